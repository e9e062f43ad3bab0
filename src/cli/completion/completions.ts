/** Something that can be typed, and what it is. */
export interface Completion {
  readonly value: string;
  readonly description?: string;
}

/** What can stand where the cursor is. */
export interface Completions {
  readonly offers: readonly Completion[];
  /** Names of files, too. */
  readonly files?: boolean;
  /** Something follows what is completed. */
  readonly nospace?: boolean;
  /** They need not begin with what is typed. */
  readonly list?: boolean;
}

export const noCompletions: Completions = { offers: [] };
export const fileCompletions: Completions = { offers: [], files: true };

/** Values behind a beginning that stays: `--to=`, or the names before the last comma. */
export const withPrefix = (beginning: string, found: Completions): Completions => ({
  ...found,
  offers: found.offers.map((offer) => ({ ...offer, value: beginning + offer.value })),
});
