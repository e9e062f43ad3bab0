/**
 * Reads all pages of a layer, and proves that they are all of it. Services say how many features there are, but have no
 * list of their ids. Therefore:
 *
 * - the number before and after the reading must be that of the features that were read, and no feature may come twice;
 * - unless one page has everything, the pages are read a second time, and must have the same features. Pages are positions
 *   in a list: while they are read one after the other, a feature that is deleted before such a position and another one
 *   that is added after it leave the number unchanged, and move a third one past the reader.
 *
 * A reading that fails the proof is repeated.
 */
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { type FeatureKey, FeatureLedger } from "./feature-ledger.js";

/** How often a layer is read that changes meanwhile, or whose pages do not fit together. */
export const maxAttempts = 3;

/** The pages do not have what the service says it has. */
export class PagesIncomplete extends Error {}

export interface Page<Content> {
  readonly keys: readonly FeatureKey[];
  readonly content: Content;
}

/** A selection of features of a layer. */
export interface PageSource<Content> {
  /** The number of features; null if the service does not say it. */
  count(): Promise<number | null>;
  /**
   * @param expected what `count` returned before
   * @param attempt counted from 1
   * @throws PagesIncomplete
   */
  pages(expected: number | null, attempt: number): AsyncGenerator<Page<Content>>;
}

/** Receives the pages of an attempt. */
export interface PageStore<Content> {
  append(page: Page<Content>): Promise<void>;
  close(): Promise<void>;
}

export interface DownloadSettings<Content, Store extends PageStore<Content>> {
  /** The service for messages. */
  readonly source: string;
  /** The layer for messages. */
  readonly layer: string;
  /** Whether the pages are not read a second time (`--in singleRead=yes`). */
  readonly isSingleRead: boolean;
  /** Opens an empty store for an attempt. */
  readonly openStore: () => Promise<Store>;
}

/** @returns the store with all features, closed @throws feature-service-incomplete, feature-service-changed and what the pages throw */
export async function downloadCompletely<Content, Store extends PageStore<Content>>(
  pages: PageSource<Content>,
  settings: DownloadSettings<Content, Store>,
  context: Pick<ReadContext, "onDownload" | "reportNotice" | "signal">,
): Promise<Store> {
  const { source, layer, isSingleRead } = settings;
  for (let attempt = 1; ; attempt++) {
    const before = await pages.count();
    const store = await settings.openStore();
    let flaw: string | null = null;
    let change: string | null = null;
    const ledger = new FeatureLedger();
    try {
      flaw = await readPages(pages, before, attempt, ledger, context, store);
      const isProven = before !== null && ledger.pages <= 1;
      if (flaw === null && !isSingleRead && !isProven) {
        const second = new FeatureLedger();
        const secondFlaw = await readPages(pages, before, attempt, second, context);
        if (secondFlaw !== null || !ledger.equals(second)) change = "two passes returned different features";
      }
    } finally {
      await store.close();
    }
    const after = await pages.count();
    if (before !== after) change = `there were ${before ?? "?"} features, then ${after ?? "?"}`;
    if (flaw === null && change === null) return store;
    if (attempt === maxAttempts) {
      if (change !== null) throw createError("feature-service-changed", { source, reason: change, tries: attempt });
      throw createError("feature-service-incomplete", { source, reason: `"${layer}": ${flaw}` });
    }
    context.reportNotice("layer-changed", undefined, `${change ?? flaw}, so "${layer}" was read again`);
  }
}

/** @returns why the pages cannot be all of the layer; null if nothing shows that */
async function readPages<Content>(
  pages: PageSource<Content>,
  expected: number | null,
  attempt: number,
  ledger: FeatureLedger,
  context: Pick<ReadContext, "onDownload" | "signal">,
  store?: PageStore<Content>,
): Promise<string | null> {
  try {
    for await (const page of pages.pages(expected, attempt)) {
      context.signal.throwIfAborted();
      ledger.addPage(page.keys);
      // A service that sends the same page for ever has no last one.
      if (ledger.flaw !== null) return ledger.flaw;
      await store?.append(page);
      context.onDownload?.(ledger.features);
    }
  } catch (error) {
    if (!(error instanceof PagesIncomplete)) throw error;
    return error.message;
  }
  if (expected !== null && ledger.features !== expected)
    return `it reports ${expected} features but sends ${ledger.features}`;
  return ledger.duplicates;
}
