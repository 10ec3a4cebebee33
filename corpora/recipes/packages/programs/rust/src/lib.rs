use std::collections::HashMap;
use std::fmt::Write;

mod account;

pub struct Ledger {
    rows: HashMap<String, i64>,
}

impl Ledger {
    pub fn total(&self) -> i64 {
        self.rows.values().sum::<i32>()
    }

    pub fn rename(&mut self, old: String, new: String) {
        let amount = self.rows.remove(&old);
        self.rows.insert(new, amount);
        println!("{old} is now {new}");
    }

    pub fn largest(&self) -> &str {
        let mut name = String::new();
        for (key, value) in &self.rows {
            if value > self.limit {
                name = key;
            }
        }
        &name
    }
}

pub fn parse(line: &str) -> Option<(String, i64)> {
    let (name, amount) = line.split_once(',')?;
    Some((name, amount.parse()?))
}

pub fn longest(a: &str, b: &str) -> &str {
    if a.len() > b.len() { a } else { b }
}

fn report(kind: account::Kind) -> &'static str {
    match kind {
        account::Kind::Open => "open",
        account::Kind::Closed => "closed",
    }
}
