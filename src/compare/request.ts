import type { ConvertRequest } from "../pipeline/request.js";

/** The options of one side, as in a conversion. */
export type SideOptions = Pick<ConvertRequest, "from" | "layers" | "sourceCrs" | "where" | "swapXy" | "readerOptions">;

/** What is compared, and how. */
export interface CompareRequest
  extends SideOptions,
    Pick<ConvertRequest, "accuracy" | "grids" | "skipErrors" | "workers" | "maxInputBytes"> {
  /** Paths, http(s), s3 and database addresses, `map:ID`, or `-` for stdin, as inputs of a conversion. */
  readonly old: string;
  readonly new: string;
  /** Options of one side, instead of those of both. */
  readonly oldOptions?: SideOptions;
  readonly newOptions?: SideOptions;
  /** The field that identifies a feature on both sides; by default the best one is chosen. */
  readonly key?: string;
  /** `id` matches by the ids of features, `content` by geometry and attributes. */
  readonly match?: "id" | "content";
  /** Decimals of coordinates to compare; by default 7 in degrees and 3 in projected systems. */
  readonly precision?: number;
  /** Fields that are not compared. */
  readonly ignore?: readonly string[];
}
