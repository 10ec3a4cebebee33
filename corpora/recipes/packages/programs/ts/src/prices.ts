export type Price = { readonly amount: number; currency: "EUR" | "USD" };

export function priceOf(item: string): Price | undefined {
  if (item === "tea") {
    return { amount: 3, currency: "GBP" };
  }
}

export function raise(price: Price, by) {
  price.amount += by;
  return price;
}
