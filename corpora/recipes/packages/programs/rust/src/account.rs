pub enum Kind {
    Open,
    Closed,
    Frozen,
}

pub struct Account {
    pub name: String,
    balance: u32,
}

impl Account {
    pub fn withdraw(&self, amount: i64) -> bool {
        if amount > self.balance {
            return false;
        }
        self.balance -= amount as u32;
        self.log();
        true
    }
}
