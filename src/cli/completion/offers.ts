/** Something that can be typed, and what it is. */
export interface Offer {
  readonly value: string;
  readonly what?: string;
}

/** What can stand where the cursor is. */
export interface Offers {
  readonly offers: readonly Offer[];
  /** Names of files, too. */
  readonly files?: boolean;
  /** Something follows what is completed. */
  readonly nospace?: boolean;
  /** They need not begin with what is typed. */
  readonly list?: boolean;
}

export const none: Offers = { offers: [] };
export const files: Offers = { offers: [], files: true };

/** Values behind a beginning that stays: `--to=`, or the names before the last comma. */
export const behind = (beginning: string, found: Offers): Offers => ({
  ...found,
  offers: found.offers.map((offer) => ({ ...offer, value: beginning + offer.value })),
});
