/** What a worker and its hands, the processes that do the work, say to each other. */
import type { Converted } from "../converted.js";
import type { Written } from "../job-state.js";
import type { ItemReport } from "../run-report.js";
import type { ConversionWork, Digests, Failure, Handed, PiecesWork } from "./handed.js";

/** One job. */
export interface Order {
  readonly id: string;
  readonly handed: Handed;
  /** The name of the worker. */
  readonly worker: string;
  /** How the marks begin of the process that had the job before and lost it (`ownMarks`). */
  readonly gone: string | null;
  /** Whether a process had the job before, be it this one, and did not come to an end with it. */
  readonly isCut: boolean;
  /** Why pieces of it failed. */
  readonly failures: readonly string[];
}

export type Begun = NonNullable<ConversionWork["begun"]>;

/** What came of a job. */
export type Done =
  | { readonly kind: "converted"; readonly converted: Converted & Digests }
  | { readonly kind: "synchronised"; readonly item: ItemReport }
  /** Of a large input: these pieces, of so many bytes each, are to be done first. */
  | { readonly kind: "pieces"; readonly pieces: readonly PiecesWork[]; readonly bytes: number }
  | { readonly kind: "piece" }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly again: boolean;
      /** Nothing was begun: another worker may be able to do it. */
      readonly isRefusal?: true;
    };

export type ToHand =
  | { readonly kind: "order"; readonly order: Order }
  | { readonly kind: "stop" }
  /** Whether outputs may get their names. */
  | { readonly kind: "answer"; readonly may: boolean };

export type FromHand =
  | { readonly kind: "ready"; readonly marks: string }
  | { readonly kind: "commit"; readonly begun: { readonly files: Written["files"]; readonly done: Begun["done"] } }
  | { readonly kind: "progress"; readonly features: number }
  | { readonly kind: "notice"; readonly sentence: string }
  | { readonly kind: "done"; readonly done: Done };
