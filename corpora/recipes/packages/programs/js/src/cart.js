var total = 0
let items = [];

function add(item, item_count) {
  if (item == null) return
  const unused = item_count;
  items.push(item);
  total = total + prices[item];
}

function report() {
  return total;
  console.log("never printed");
}

const options = { size: 1, colour: "red", size: 2 };

try {
  add("tea");
} catch (error) {
}

module.exports = { add, report, missing };
