/** An operand, which has a value in every row. */
export type Operand =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "special"; readonly name: "$id" | "$type" }
  | { readonly kind: "literal"; readonly value: null | boolean | number | bigint | string };

export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A condition: true, false or unknown in every row. A single operand is true if its value is. */
export type Expression =
  | Operand
  | { readonly kind: "and" | "or"; readonly operands: readonly Expression[] }
  | { readonly kind: "not"; readonly operand: Expression }
  | { readonly kind: "compare"; readonly comparison: Comparison; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | {
      readonly kind: "like";
      readonly operand: Operand;
      readonly pattern: string;
      readonly escapeCharacter: string;
      readonly ignoreCase: boolean;
    }
  | { readonly kind: "is-null"; readonly operand: Operand };
