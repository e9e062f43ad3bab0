/** What the options of both readers say about a download. */
import { createError } from "../../../src/plugin/index.js";
import type { OgcClient } from "./service-client.js";

interface PageOptions {
  readonly singleRead: boolean;
  readonly parallel: number;
  readonly resume?: string | undefined;
}

export const downloadSettings = (client: OgcClient, { singleRead, parallel, resume }: PageOptions) => ({
  ...{ source: client.source, requests: client, isSingleRead: singleRead },
  ...{ parallel, resumeFolder: resume ?? null },
});

/** Only the second pass shows that nothing was edited since an interrupted first one. @throws usage */
export function requireSecondPass({ singleRead, resume }: PageOptions): void {
  if (!singleRead || resume === undefined) return;
  throw createError("usage", {
    reason:
      "resume cannot be combined with singleRead, because only the second reading of the pages shows whether features were edited since the interruption",
  });
}
