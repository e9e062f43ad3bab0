interface Row {
  readonly id: string;
  readonly verdict: string;
  readonly deprecated: boolean;
}

export const classes: Readonly<Record<string, string>>;
export function tableOf(rows: readonly Row[]): string;
export function differencesOf(
  rows: readonly (Row & { readonly worst: number; readonly why?: string })[],
  known: Readonly<Record<string, string>>,
): string;
export function summary(
  rows: readonly Row[],
  known: Readonly<Record<string, string>>,
): { share: number; strictShare: number; unexplained: string[] };
