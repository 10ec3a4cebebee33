use std::collections::BTreeMap;
use std::fs;

struct Page {
    title: String,
    hidden: bool,
}

fn never_called(page: &Page) -> usize {
    let mut length = page.title.len();
    length
}

pub fn open(name: &str) -> u32 {
    let ignored = 3;
    let mut total = 0;
    if (name.is_empty()) {
        return 0;
        total += 1;
    }
    fs::remove_file(name);
    loop {
        break;
    }
    1
}

#[deprecated(note = "use open")]
pub fn open_old() {}

pub fn both() {
    open_old();
    let X = 1;
}
