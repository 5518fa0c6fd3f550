//! Tables of the page, read to their last row by scrolling as a person would.

use serde_json::{Value, json};

use super::Page;

/// A cell as the page shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// Its exact figure (`data-raw`).
    pub raw: Option<String>,
}

/// A table as the page shows it.
#[derive(Debug, Clone)]
pub struct Table {
    /// Ids of the columns.
    pub columns: Vec<String>,
    /// Rows in the order shown.
    pub rows: Vec<Vec<Cell>>,
    /// Whether each row is highlighted.
    pub hits: Vec<bool>,
}

/// Collects the rows of a scroller, from the top to the end.
const READ: &str = r#"
const [name, most] = arguments;
const box = document.querySelector(`[data-testid='table-${name}']`);
if (!box) return null;
const total = Number(box.querySelector('table').getAttribute('aria-rowcount')) - 1;
const frame = () => new Promise(requestAnimationFrame);
const rows = new Map();
const collect = () => {
  for (const tr of box.querySelectorAll('tbody tr[aria-rowindex]')) {
    const at = Number(tr.getAttribute('aria-rowindex')) - 2;
    if (rows.has(at)) continue;
    rows.set(at, { hit: tr.classList.contains('hit'), cells: [...tr.children].map(td => {
      let text = '';
      for (const n of td.childNodes) if (!n.classList?.contains('twist')) text += n.textContent;
      return [text, td.dataset.raw ?? null];
    }) });
  }
};
const was = box.scrollTop;
box.scrollTop = 0;
await frame(); await frame();
collect();
const wanted = Math.min(total, most);
while (rows.size < wanted) {
  const before = rows.size, top = box.scrollTop;
  box.scrollTop += Math.max(60, box.clientHeight - 80);
  await frame(); await frame();
  collect();
  if (rows.size === before && box.scrollTop === top) break;
}
box.scrollTop = was;
await frame();
const out = [];
for (let i = 0; i < wanted; i++) out.push(rows.get(i) ?? null);
return { total, rows: out, columns: [...box.querySelectorAll('thead th')].map(h => h.dataset.column) };
"#;

impl Page {
    /// A whole table.
    pub async fn table(&self, name: &str) -> Table {
        self.top_of(name, usize::MAX).await
    }

    /// The first rows of a table.
    pub async fn top_of(&self, name: &str, most: usize) -> Table {
        let most = most.min(1 << 31);
        let read = self.js_async(READ, vec![json!(name), json!(most)]).await;
        assert!(read.is_object(), "there is no table {name}");
        let text = |v: &Value| v.as_str().map(str::to_owned);
        let mut table = Table {
            columns: Vec::new(),
            rows: Vec::new(),
            hits: Vec::new(),
        };
        table.columns = read["columns"]
            .as_array()
            .expect("columns")
            .iter()
            .filter_map(text)
            .collect();
        for (i, row) in read["rows"].as_array().expect("rows").iter().enumerate() {
            assert!(
                row.is_object(),
                "row {i} of {name} cannot be scrolled to (of {})",
                read["total"]
            );
            table.hits.push(row["hit"] == json!(true));
            let cell = |c: &Value| Cell {
                text: text(&c[0]).unwrap_or_default(),
                raw: text(&c[1]),
            };
            table.rows.push(
                row["cells"]
                    .as_array()
                    .expect("cells")
                    .iter()
                    .map(cell)
                    .collect(),
            );
        }
        table
    }

    /// Compares a whole table with what it must be.
    pub async fn must_show(&self, name: &str, expected: &[Vec<Cell>]) {
        self.table(name).await.must_be(name, expected);
    }
}

impl Table {
    /// Compares with what it must be, and says where it differs.
    pub fn must_be(&self, name: &str, expected: &[Vec<Cell>]) {
        for (i, (is, must)) in self.rows.iter().zip(expected).enumerate() {
            for (column, (a, b)) in self.columns.iter().zip(is.iter().zip(must)) {
                assert_eq!(
                    a, b,
                    "{name}, row {i}, column {column}\n  shown: {is:?}\n  computed: {must:?}"
                );
            }
            assert_eq!(is.len(), must.len(), "{name}, row {i}: number of cells");
        }
        assert_eq!(self.rows.len(), expected.len(), "{name}: number of rows");
    }

    /// The texts of one column.
    #[must_use]
    pub fn column(&self, id: &str) -> Vec<&Cell> {
        let at = self
            .columns
            .iter()
            .position(|c| c == id)
            .unwrap_or_else(|| panic!("no column {id}"));
        self.rows.iter().map(|r| &r[at]).collect()
    }
}
