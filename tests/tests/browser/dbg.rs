//! dbg
use e2e::harness::Page;
use crate::pages;
async fn run(page: &Page, n: usize) {
        page.choose("rank", "1").await;
        page.tab("top").await; 
        page.click("each").await;
        if n > 0 { page.fill("search", "layers.3.mlp").await;}
        if n > 1 {page.choose("filter-phase", "backward").await;}
        if n > 2 {
        page.click_css("th[data-column='step'] button").await;}
        if n > 3 {
        page.click("zoom-in").await;}
        if n > 4 {
        page.click_css("#row-events-4").await;}
        if n > 5 {
        page.click("theme").await;}
        page.click("lang").await;
        println!("{n}: {} {}", page.text("row-count").await,page.js("return document.querySelector('#panel th').textContent").await);
}
#[test]
fn dbg() {
    for n in 0..7 {
    pages::on_rank(0, async |page: &Page| {
        run(page, n).await;
    });
    }
}
