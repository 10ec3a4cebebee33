import { priceOf, type Price } from "./prices.js";
import { shelf } from "./warehouse.js";

interface Order {
  id: number;
  lines: { item: string; count: number }[];
  note?: string;
}

export function total(order: Order): number {
  let sum: number = "0";
  for (const line of order.lines) {
    sum += priceOf(line.item, line.count) * line.amount;
  }
  return order.note.length + sum;
}

export const empty: Order = { id: "none", lines: [{ item: 3, count: 1 }], colour: "red" };

function apply(handler: (order: Order) => Promise<void>, orders: Order[]): Price {
  orders.forEach(handler);
  return orders.map((o) => o.id);
}

class Desk implements Order {
  id = 1;
  private owner: string;
}

const desk = new Desk();
desk.owner = undefined;
