export interface Completion {
  readonly value: string;
  readonly description?: string;
}

export interface Completions {
  readonly offers: readonly Completion[];
  /** Complete file names, too. */
  readonly files?: boolean;
  /** Add no space after the completion. */
  readonly nospace?: boolean;
  /** The values need not start with the typed text. */
  readonly list?: boolean;
}

export const noCompletions: Completions = { offers: [] };
export const fileCompletions: Completions = { offers: [], files: true };

/** Prepends a fixed prefix: `--to=`, or the names before the last comma. */
export const withPrefix = (beginning: string, found: Completions): Completions => ({
  ...found,
  offers: found.offers.map((offer) => ({ ...offer, value: beginning + offer.value })),
});
