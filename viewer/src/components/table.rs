//! A table of any length: sortable, keyboard-driven, drawing only the rows in sight.

use std::ops::Deref;
use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::export::CELL;
use present::rows::{Cell, Column, Pick, Rows, Subject, order};
use present::units::count;
use present::visible::short;

use super::TableActions;
use crate::data::RankData;
use crate::selection::Selection;
use crate::state::{Sort, State};

/// Rows in a signal; two are equal when they are the same table.
#[derive(Clone)]
pub struct Table(pub Arc<dyn Rows>);

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Table {
    type Target = dyn Rows;
    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

/// What makes a table a tree: asked for each row in sight.
#[derive(Clone, Copy)]
pub struct Tree {
    /// Depth of a row, and whether it is open (`None`: nothing below it).
    pub node: Callback<usize, (u32, Option<bool>)>,
    /// Opens or closes a row.
    pub toggle: Callback<usize>,
}

/// Height of a row in CSS pixels; `style.css` has the same.
const ROW: f64 = 26.0;
/// Browsers stop at 17 to 33 million pixels; beyond this the scroll bar is scaled.
const MOST: f64 = 8_000_000.0;

/// Tables of so few rows are drawn whole: their texts may wrap, and they print whole.
const WHOLE: usize = 100;

/// Where the rows in sight lie.
#[derive(Clone, Copy, PartialEq)]
struct Window {
    /// First row drawn.
    first: usize,
    /// Rows drawn.
    rows: usize,
    /// Height above them, CSS pixels.
    above: f64,
    /// Height below them.
    below: f64,
}

fn window(rows: usize, scroll: f64, height: f64) -> Window {
    if rows <= WHOLE {
        return Window {
            first: 0,
            rows,
            above: 0.0,
            below: 0.0,
        };
    }
    let full = rows as f64 * ROW;
    let fit = (height / ROW).ceil() as usize + 2;
    if full <= MOST {
        let first = ((scroll / ROW) as usize)
            .saturating_sub(1)
            .min(rows.saturating_sub(1));
        let n = fit.min(rows - first.min(rows));
        return Window {
            first,
            rows: n,
            above: first as f64 * ROW,
            below: ((rows - first - n) as f64 * ROW).max(0.0),
        };
    }
    let share = (scroll / (MOST - height).max(1.0)).clamp(0.0, 1.0);
    let first = (share * (rows.saturating_sub(fit - 2)) as f64) as usize;
    let n = fit.min(rows - first);
    // The last rows end at the very end of the scroll range.
    let above = scroll.min((MOST - n as f64 * ROW).max(0.0));
    Window {
        first,
        rows: n,
        above,
        below: (MOST - above - n as f64 * ROW).max(0.0),
    }
}

/// The scroll position that shows a row.
fn scroll_to(row: usize, rows: usize, height: f64) -> f64 {
    let full = rows as f64 * ROW;
    if full <= MOST {
        return (row as f64 * ROW - height / 3.0).max(0.0);
    }
    let fit = (height / ROW).ceil() as usize;
    row as f64 / rows.saturating_sub(fit).max(1) as f64 * (MOST - height)
}

/// A table with its buttons.
#[component]
pub fn DataTable(
    state: State,
    /// The rows.
    rows: Memo<Table>,
    /// Column and direction of the first sorting; else the rows' own order.
    #[prop(optional)]
    sorted: Option<(&'static str, bool)>,
    /// Makes it a tree, whose rows come in order already.
    #[prop(optional)]
    tree: Option<Tree>,
    /// Accessible name.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let sort = Memo::new(move |_| {
        let rows = rows.get();
        let chosen = state
            .shown
            .with(|s| s.sort.clone())
            .filter(|s| s.table == rows.name());
        let (id, descending) = match &chosen {
            Some(s) => (s.column.as_str(), s.descending),
            None => sorted?,
        };
        let column = rows.columns().iter().position(|c| c.id == id)?;
        Some((column, descending))
    });
    let order = Memo::new(move |_| {
        let rows = rows.get();
        match sort.get() {
            Some((column, descending)) if tree.is_none() => {
                Arc::new(order(&*rows, column, descending, state.lang.get()))
            }
            _ => Arc::new((0..rows.len() as u32).collect::<Vec<u32>>()),
        }
    });
    let scroller = NodeRef::<leptos::html::Div>::new();
    let scroll = RwSignal::new(0.0);
    let height = RwSignal::new(520.0);
    let active = RwSignal::new(0usize);
    let view = Memo::new(move |_| window(order.with(|o| o.len()), scroll.get(), height.get()));
    let measure = move || {
        if let Some(e) = scroller.get_untracked() {
            scroll.set(f64::from(e.scroll_top()));
            height.set(f64::from(e.client_height()).max(ROW * 2.0));
        }
    };
    let reveal = move |row: usize| {
        let Some(e) = scroller.get_untracked() else {
            return;
        };
        let (n, h) = (
            order.with_untracked(|o| o.len()),
            f64::from(e.client_height()),
        );
        let w = view.get_untracked();
        if n <= WHOLE {
            let id = format!("row-{}-{row}", rows.with_untracked(|r| r.name()));
            if let Some(row) = crate::browser::element(&id) {
                crate::browser::into_view(&row);
            }
            return;
        }
        // The head covers one row; rows half in sight are brought in.
        let inside = row > w.first && row + 3 < w.first + w.rows;
        if !inside || h < ROW {
            e.set_scroll_top(scroll_to(row, n, h) as i32);
        }
        measure();
    };
    // A selection made elsewhere brings its first row into sight.
    Effect::new(move |_| {
        let (selection, pick) = (state.selection.get(), state.pick.get());
        let order = order.get();
        let rows = rows.get();
        measure();
        let Some(data) = state.data.get_untracked() else {
            return;
        };
        if selection.is_none() && pick.is_none() {
            return;
        }
        let hit = |&i: &u32| is_hit(selection, pick, rows.subject(i as usize), &data);
        let shown = view.get_untracked();
        let in_sight = order.len() > WHOLE
            && order
                .iter()
                .skip(shown.first)
                .take(shown.rows.saturating_sub(4))
                .any(hit);
        if !in_sight && let Some(row) = order.iter().position(hit) {
            active.set(row);
            // The rows may not be laid out yet when a link brings the selection along.
            crate::browser::next_frame(move || {
                if active.try_get_untracked() == Some(row) {
                    reveal(row);
                }
            });
        }
    });
    let select = move |display: usize| {
        let Some(row) = order.with_untracked(|o| o.get(display).copied()) else {
            return;
        };
        active.set(display);
        let Some(data) = state.data.get_untracked() else {
            return;
        };
        let subject = rows.with_untracked(|r| r.subject(row as usize));
        if let Some(pick) = subject.pick {
            let again = state.pick.get_untracked() == Some(pick);
            state.set_pick((!again).then_some(pick));
            return;
        }
        let next = Selection::of(subject, &data);
        // The same row again lets go of it.
        let again = next.is_some() && state.selection.get_untracked() == next;
        state.select(if again { None } else { next });
    };
    let on_key = move |e: web_sys::KeyboardEvent| {
        // Keys on a head's button are the button's.
        if e.target() != e.current_target() {
            return;
        }
        let n = order.with_untracked(|o| o.len());
        let at = active.get_untracked();
        let page = ((height.get_untracked() / ROW) as usize)
            .saturating_sub(2)
            .max(1);
        let row = order.with_untracked(|o| o.get(at).copied());
        let node = tree
            .zip(row)
            .map(|(t, r)| (t, r as usize, t.node.run(r as usize).1));
        let next = match (e.key().as_str(), node) {
            ("ArrowDown", _) => at + 1,
            ("ArrowUp", _) => at.saturating_sub(1),
            ("PageDown", _) => at + page,
            ("PageUp", _) => at.saturating_sub(page),
            ("Home", _) => 0,
            ("End", _) => n.saturating_sub(1),
            ("ArrowRight", Some((t, r, Some(false)))) | ("ArrowLeft", Some((t, r, Some(true)))) => {
                t.toggle.run(r);
                at
            }
            ("Enter" | " ", _) => {
                e.prevent_default();
                e.stop_propagation();
                return select(at);
            }
            _ => return,
        };
        e.prevent_default();
        e.stop_propagation();
        let next = next.min(n.saturating_sub(1));
        active.set(next);
        reveal(next);
    };
    let id = move || rows.with(|r| r.name());
    view! {
        <div class="table">
            <div class="above">
                <span class="count" data-testid="row-count">{move || {
                    // The word first: the order depends on the language as well, and a language that is
                    // found changed on the order's account no longer counts as changed here.
                    let (row, rows) = (state.t(Word::Row), state.t(Word::Rows));
                    match order.with(|o| o.len()) {
                        1 => format!("1 {row}"),
                        n => format!("{} {rows}", count(n as u64)),
                    }
                }}</span>
                <TableActions state=state rows=Signal::derive(move || rows.get().0) order=Signal::derive(move || order.get())/>
            </div>
            <div class="scroll" tabindex="0" role="group" data-testid=move || format!("table-{}", id())
                aria-label=move || label.get()
                aria-activedescendant=move || format!("row-{}-{}", id(), active.get())
                node_ref=scroller on:scroll=move |_| measure() on:keydown=on_key>
                <table class:whole=move || order.with(|o| o.len() <= WHOLE)
                    class:few=move || rows.with(|r| r.columns().len() <= 4) aria-label=move || label.get() aria-rowcount=move || order.with(|o| o.len() + 1)>
                    <colgroup>{move || rows.with(|r| r.columns()).iter().map(|c| view! {
                        <col class=width_class(c)/>
                    }).collect_view()}</colgroup>
                    <thead><tr>
                        {move || rows.with(|r| (r.name(), r.columns())).1.iter().enumerate().map(|(i, &c)| view! {
                            <Head state=state rows=rows index=i column=c sort=sort/>
                        }).collect_view()}
                    </tr></thead>
                    <tbody>
                        <tr aria-hidden="true" style:height=move || format!("{}px", view.get().above)></tr>
                        {move || {
                            // The language first, as above.
                            let (lang, selection, active) = (state.lang.get(), state.selection.get(), active.get());
                            let pick = state.pick.get();
                            let w = view.get();
                            let rows = rows.get();
                            let data = state.data.get();
                            let order = order.get();
                            order.iter().enumerate().skip(w.first).take(w.rows).map(|(display, &row)| {
                                let row = row as usize;
                                let hit = data.as_ref().is_some_and(|d| is_hit(selection, pick, rows.subject(row), d));
                                view! {
                                    <tr id=format!("row-{}-{display}", rows.name()) class:hit=hit class:active=display == active
                                        aria-rowindex=display + 2 aria-selected=hit.to_string() data-row=row
                                        on:click=move |_| select(display)>
                                        {rows.columns().iter().enumerate().map(|(i, c)| {
                                            body_cell(&*rows, row, i, c, lang, tree)
                                        }).collect_view()}
                                    </tr>
                                }
                            }).collect_view()
                        }}
                        <tr aria-hidden="true" style:height=move || format!("{}px", view.get().below)></tr>
                    </tbody>
                    {move || totals(state, &*rows.get())}
                </table>
            </div>
        </div>
    }
}

/// The sums below the columns, for tables that have any.
fn totals(state: State, rows: &dyn Rows) -> Option<impl IntoView + use<>> {
    let word = state.t(Word::Total);
    let cells: Vec<_> = (0..rows.columns().len()).map(|i| rows.total(i)).collect();
    if cells.iter().all(Option::is_none) || rows.is_empty() {
        return None;
    }
    let mut named = false;
    let cells = cells.into_iter().zip(rows.columns()).map(|(cell, column)| {
        let cell = cell.unwrap_or(Cell::Text("".into()));
        let raw = cell.raw().filter(|_| column.figure).map(|r| r.into_owned());
        let mut text = cell.shown();
        // The first cell without a sum says what the row is.
        if text.is_empty() && !named && !column.figure {
            named = true;
            text = word.to_owned();
        }
        view! { <td class:figure=column.figure title=cell.exact() data-raw=raw data-column=column.id>{text}</td> }
    });
    let cells = cells.collect_view();
    Some(view! { <tfoot><tr>{cells}</tr></tfoot> })
}

/// Whether a row shows something of what is selected.
fn is_hit(
    selection: Option<Selection>,
    pick: Option<Pick>,
    subject: Subject,
    data: &RankData,
) -> bool {
    match subject.pick {
        Some(own) => pick == Some(own),
        None => selection.is_some_and(|s| s.has_row(subject, data)),
    }
}

/// How wide a column is, as a class of `style.css`.
fn width_class(c: &Column) -> &'static str {
    match c.id {
        "event" | "step" | "count" | "times" | "share" | "unpaired" | "steps" | "partner"
        | "live" | "depth" | "of_steps" | "since" | "age_steps" | "stack" => "w-narrow",
        "module" | "part" | "value" | "what" | "why" | "innermost" => "w-wide",
        "place" | "function" | "file" => "w-name",
        "shape" => "w-shape",
        "allocation" | "address" => "w-block",
        "entry" | "time" => "w-narrow",
        "block" => "w-block",
        _ if c.figure => "w-figure",
        _ => "w-text",
    }
}

/// One head: sorts when pressed; the first press puts the largest figures, or the first letters,
/// on top.
#[component]
fn Head(
    state: State,
    rows: Memo<Table>,
    index: usize,
    column: Column,
    sort: Memo<Option<(usize, bool)>>,
) -> impl IntoView {
    let current = move || sort.get().filter(|s| s.0 == index).map(|s| s.1);
    let press = move |_| {
        let descending = current().map_or(column.figure, |d| !d);
        let table = rows.with_untracked(|r| r.name().to_owned());
        state.shown.update(|s| {
            s.sort = Some(Sort {
                table,
                column: column.id.to_owned(),
                descending,
            })
        });
    };
    view! {
        <th scope="col" class:figure=column.figure data-column=column.id
            aria-sort=move || match current() {
                Some(true) => "descending",
                Some(false) => "ascending",
                None => "none",
            }>
            <button type="button" on:click=press>{state.text(column.label)}</button>
        </th>
    }
}

fn body_cell(
    rows: &dyn Rows,
    row: usize,
    index: usize,
    column: &Column,
    lang: present::Lang,
    tree: Option<Tree>,
) -> AnyView {
    let cell = rows.cell(row, index, lang);
    let (text, title) = match &cell {
        Cell::Text(t) => {
            let text = short(t, CELL).into_owned();
            (text.clone(), Some(text))
        }
        other => (other.shown(), other.exact()),
    };
    let raw = cell.raw().filter(|_| column.figure).map(|r| r.into_owned());
    match tree.filter(|_| index == 0) {
        Some(t) => {
            let (depth, open) = t.node.run(row);
            let mark = match open {
                Some(true) => "▾",
                Some(false) => "▸",
                None => "",
            };
            let toggle = move |e: web_sys::MouseEvent| {
                e.stop_propagation();
                t.toggle.run(row);
            };
            view! {
                <td title=title style:padding-left=format!("{}px", 8 + depth * 16)>
                    <span class="twist" aria-hidden="true" on:click=toggle>{mark}</span>{text}
                </td>
            }
            .into_any()
        }
        None => {
            view! { <td class:figure=column.figure title=title data-raw=raw>{text}</td> }.into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_scrolled_to_in_short_and_long_tables() {
        for rows in [1usize, 5, 100, 300_000, 1_000_000, 40_000_000] {
            for row in [0, rows / 3, rows / 2, rows - 1] {
                let w = window(rows, scroll_to(row, rows, 520.0), 520.0);
                assert!(
                    w.first <= row && row < w.first + w.rows,
                    "{row} of {rows}: {} + {}",
                    w.first,
                    w.rows
                );
                let total = w.above + w.rows as f64 * ROW + w.below;
                assert!(total <= MOST + 1.0 && w.first + w.rows <= rows);
            }
        }
        assert_eq!(window(0, 0.0, 520.0).rows, 0);
    }
}
