/** What a verification has proven, as part of the report of a conversion. */
import type { ExplainedLoss } from "./differences.js";

export interface LayerProof {
  /** The output, as in the report. */
  readonly path: string;
  readonly layer: string;
  /** Features that were compared. */
  readonly features: number;
  /** Features of which everything came back as it was written. */
  readonly identical: number;
  /** Whether the order of the features was compared; formats that sort or group features do not keep it. */
  readonly isOrdered: boolean;
  /** Decimals at which coordinates were compared; null compares them exactly. */
  readonly decimals: { readonly xy: number | null; readonly z: number | null };
  /** Where the types are that were compared: `layer`, `value` or `none` (see `ReadBack`). */
  readonly types: "layer" | "value" | "none";
  /** Hashes of all features, as passed to the writer and as read back (docs/verifying.md). They differ if features do. */
  readonly writtenHash: string;
  readonly readHash: string;
  /** The losses that the writer reported, each with the number of differences that it explains. */
  readonly explained: readonly ExplainedLoss[];
}

export interface Proof {
  readonly layers: readonly LayerProof[];
}
