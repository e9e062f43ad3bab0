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
import { formatCount } from "../../../src/format-count.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { type FeatureKey, FeatureLedger } from "./feature-ledger.js";
import { PageJournal } from "./page-journal.js";
import { AheadRequests, type PageRequests } from "./page-requests.js";

/** How often a layer is read that changes meanwhile, or whose pages do not fit together. */
export const maxAttempts = 3;

/** The pages do not have what the service says it has. */
export class PagesIncomplete extends Error {}

/** What reading a page lost, or repaired: a notice. */
export interface PageLoss {
  readonly kind: "loss" | "notice";
  readonly code: string;
  readonly example: string;
  readonly count: number;
}

export interface Page<Content> {
  readonly keys: readonly FeatureKey[];
  readonly content: Content;
  readonly losses: readonly PageLoss[];
}

/** A selection of features of a layer. */
export interface PageSource<Content> {
  /** The number of features; null if the service does not say it. */
  count(): Promise<number | null>;
  /**
   * @param expected what `count` returned before
   * @param attempt counted from 1
   * @param requests that get the pages
   * @throws PagesIncomplete
   */
  pages(expected: number | null, attempt: number, requests: PageRequests): AsyncGenerator<Page<Content>>;
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
  readonly requests: PageRequests;
  /** Most requests for pages at once. */
  readonly parallel: number;
  /** The folder that keeps an interrupted first pass; null for none. */
  readonly resumeFolder: string | null;
  /** Identifies the selected features in that folder. */
  readonly selection: string;
  /** Opens an empty store for an attempt. */
  readonly openStore: () => Promise<Store>;
}

/**
 * @returns the store with all features, closed
 * @throws feature-service-incomplete, feature-service-changed, output-locked, and what the pages throw
 */
export async function downloadCompletely<Content, Store extends PageStore<Content>>(
  pages: PageSource<Content>,
  settings: DownloadSettings<Content, Store>,
  context: Pick<ReadContext, "onDownload" | "reportLoss" | "reportNotice" | "signal">,
): Promise<Store> {
  const { source, layer, isSingleRead, resumeFolder, selection } = settings;
  for (let attempt = 1; ; attempt++) {
    const before = await pages.count();
    const losses: PageLoss[] = [];
    const read = (ledger: FeatureLedger, store?: Store, journal?: PageJournal) =>
      readPages({ pages, settings, expected: before, attempt, ledger, context, store, journal, losses });
    const store = await settings.openStore();
    let flaw: string | null = null;
    let change: string | null = null;
    const ledger = new FeatureLedger();
    const isResumable = attempt === 1 && resumeFolder !== null;
    const journal = isResumable ? await PageJournal.open(resumeFolder, selection, before) : undefined;
    let isFinished = false;
    try {
      flaw = await read(ledger, store, journal);
      const isProven = before !== null && ledger.pages <= 1;
      if (flaw === null && !isSingleRead && !isProven) {
        const second = new FeatureLedger();
        const secondFlaw = await read(second);
        if (secondFlaw !== null || !ledger.equals(second)) change = "two passes returned different features";
      }
      isFinished = true;
    } finally {
      await store.close();
      await journal?.close(!isFinished);
    }
    const after = await pages.count();
    if (before !== after) change = `there were ${before ?? "?"} features, then ${after ?? "?"}`;
    if (flaw === null && change === null) {
      for (const { kind, code, example, count } of losses)
        if (kind === "loss") context.reportLoss(code, undefined, example, count);
        else context.reportNotice(code, undefined, example, count);
      if (ledger.repeatedIds > 0)
        context.reportNotice(
          "id-repeated",
          undefined,
          `features of "${layer}" with the id of another`,
          ledger.repeatedIds,
        );
      if (before === null) context.reportNotice("count-unknown", undefined, countUnknown(layer, ledger.features));
      return store;
    }
    if (attempt === maxAttempts) {
      if (change !== null) throw createError("feature-service-changed", { source, reason: change, tries: attempt });
      throw createError("feature-service-incomplete", { source, reason: `"${layer}": ${flaw}` });
    }
    context.reportNotice("layer-changed", undefined, `${change ?? flaw}, so "${layer}" was read again`);
  }
}

const countUnknown = (layer: string, features: number): string =>
  `the service does not say how many features "${layer}" has, so that nothing proves that its ${formatCount(features, "feature")} are all of them`;

interface Pass<Content, Store extends PageStore<Content>> {
  readonly pages: PageSource<Content>;
  readonly settings: DownloadSettings<Content, Store>;
  readonly expected: number | null;
  readonly attempt: number;
  readonly ledger: FeatureLedger;
  readonly context: Pick<ReadContext, "onDownload" | "signal">;
  readonly store: Store | undefined;
  readonly journal: PageJournal | undefined;
  /** Receives what the pages lost that are kept. */
  readonly losses: PageLoss[];
}

/** @returns why the pages cannot be all of the layer; null if nothing shows that */
async function readPages<Content, Store extends PageStore<Content>>(
  pass: Pass<Content, Store>,
): Promise<string | null> {
  const { pages, settings, expected, attempt, ledger, context, store, journal } = pass;
  const ahead = new AheadRequests(settings.requests, settings.parallel, expected);
  const requests = journal?.through(ahead) ?? ahead;
  try {
    for await (const page of pages.pages(expected, attempt, requests)) {
      context.signal.throwIfAborted();
      ledger.addPage(page.keys);
      // A service that sends the same page for ever has no last one.
      if (ledger.flaw !== null) return ledger.flaw;
      await store?.append(page);
      if (store) pass.losses.push(...page.losses);
      await journal?.accept();
      context.onDownload?.(ledger.features);
    }
  } catch (error) {
    if (!(error instanceof PagesIncomplete)) throw error;
    return error.message;
  } finally {
    await ahead.close();
  }
  if (expected !== null && ledger.features !== expected)
    return `it reports ${expected} features but sends ${ledger.features}`;
  return ledger.duplicates;
}
