type Operator = "+" | "-" | "*" | "/" | "^";

const APPLY: Record<Operator, (a: number, b: number) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "^": (a, b) => a ** b,
};

/** Evaluates an arithmetic expression; throws when it is invalid. Recursive descent, one function per precedence. */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|[-+*/^()]|\S/g) ?? [];
  let at = 0;
  const value = sum();
  if (at < tokens.length) throw new Error(`Cannot read "${tokens[at]}" in "${expression}"`);
  return value;

  function sum(): number {
    return chain(product, ["+", "-"]);
  }
  function product(): number {
    return chain(power, ["*", "/"]);
  }
  function power(): number {
    const base = atom();
    // Right-associative: 2^3^2 is 2^9.
    return take("^") ? APPLY["^"](base, power()) : base;
  }
  function atom(): number {
    if (take("-")) return -power();
    if (take("(")) {
      const inner = sum();
      if (!take(")")) throw new Error(`Missing ")" in "${expression}"`);
      return inner;
    }
    const number = Number(tokens[at]);
    if (tokens[at] === undefined || Number.isNaN(number)) throw new Error(`Missing a number in "${expression}"`);
    at++;
    return number;
  }
  function chain(operand: () => number, operators: Operator[]): number {
    let result = operand();
    for (;;) {
      const operator = operators.find(take);
      if (!operator) return result;
      result = APPLY[operator](result, operand());
    }
  }
  function take(token: string): boolean {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  }
}
