//! The module tree.

use super::{Row, count, delta, share, size, text};
use crate::run::Run;

#[derive(Default)]
struct Node {
    name: String,
    path: String,
    children: Vec<Node>,
    events: Vec<usize>,
    called: bool,
    /// The event that first named it or something below it.
    born: usize,
}

/// Figures of a node: events, highest, largest delta, total delta, outputs, gradients.
struct Figures(usize, Option<u64>, Option<i64>, Option<i64>, u64, u64);

/// The module of an event, and whether the event is a call of it.
fn place(module: &str) -> (&str, bool) {
    if let Some(parameter) = module.strip_prefix("param::") {
        return (parameter.rsplit_once('.').map_or("", |p| p.0), false);
    }
    match module.rsplit_once('.') {
        Some((path, last))
            if last.ends_with(']')
                && (last.starts_with("output[") || last.starts_with("input[")) =>
        {
            (path, false)
        }
        _ => (module, true),
    }
}

impl Node {
    fn at(&mut self, path: &str, born: usize) -> &mut Self {
        let mut node = self;
        for name in path.split('.') {
            let i = node
                .children
                .iter()
                .position(|c| c.name == name)
                .unwrap_or_else(|| {
                    let path = if node.path.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{}.{name}", node.path)
                    };
                    node.children.push(Node {
                        name: name.to_owned(),
                        path,
                        born,
                        ..Node::default()
                    });
                    node.children.len() - 1
                });
            node = &mut node.children[i];
        }
        node
    }

    fn own(&self, run: &Run) -> Figures {
        let bytes = |list: &[crate::run::Tensor]| list.iter().filter_map(|t| t.bytes).sum::<u64>();
        let events = || self.events.iter().map(|&i| &run.events[i]);
        Figures(
            self.events.len(),
            events().filter_map(|e| e.after).max(),
            events().filter_map(|e| e.delta).max(),
            events().filter_map(|e| e.delta).reduce(|a, b| a + b),
            events().map(|e| bytes(&e.outputs)).sum(),
            events().map(|e| bytes(&e.grads)).sum(),
        )
    }

    fn rolled(&self, run: &Run) -> Figures {
        let mut f = self.own(run);
        let below: Vec<Figures> = self.children.iter().map(|c| c.rolled(run)).collect();
        if !self.called {
            f.3 = below
                .iter()
                .filter_map(|c| c.3)
                .reduce(|a, b| a + b)
                .or(f.3);
        }
        for c in &below {
            f = Figures(
                f.0 + c.0,
                f.1.max(c.1),
                f.2.max(c.2),
                f.3,
                f.4 + c.4,
                f.5 + c.5,
            );
        }
        f
    }

    fn each<'a>(&'a self, to: &mut Vec<&'a Self>) {
        for c in &self.children {
            to.push(c);
            c.each(to);
        }
    }
}

fn tree(run: &Run) -> (Node, i64) {
    let mut root = Node {
        called: true,
        ..Node::default()
    };
    for (i, e) in run
        .events
        .iter()
        .enumerate()
        .filter(|(_, e)| e.kind != "step")
    {
        let (path, called) = place(&e.module);
        let node = root.at(path, i);
        node.events.push(i);
        node.called |= called;
    }
    let total = root.children.iter().filter_map(|c| c.rolled(run).3).sum();
    (root, total)
}

fn row(name: &str, f: &Figures, total: i64) -> Row {
    vec![
        text(name),
        count(f.0),
        size(f.1),
        delta(f.2),
        delta(f.3),
        share(f.3.unwrap_or(0) as f64 / total as f64),
        size(Some(f.4)),
        size(Some(f.5)),
        // Every event of the fixtures has its partner.
        count(0),
    ]
}

/// Every row of the tree when all of it is open.
#[must_use]
pub fn tree_modules(run: &Run) -> Vec<Row> {
    let (root, total) = tree(run);
    let mut all = Vec::new();
    root.each(&mut all);
    all.iter()
        .map(|n| row(&n.name, &n.rolled(run), total))
        .collect()
}

/// Every row of the flat table, in order of first occurrence of the paths.
#[must_use]
pub fn flat_modules(run: &Run) -> Vec<Row> {
    let (root, total) = tree(run);
    let mut all = Vec::new();
    root.each(&mut all);
    all.sort_by_key(|n| n.born);
    let own = all.iter().filter(|n| !n.events.is_empty());
    own.map(|n| row(&n.path, &n.own(run), total)).collect()
}
