/** Both kinds of services with pages that a test can watch and change. */
import { AnsweringServer, type ArcgisRequest, type GivenAnswer } from "../../support/servers/answering-server.js";
import { answerFeatures, answerWfs, parameter, type Stop } from "./hand-built-services.js";

/** Changes an answer; null closes the connection. */
export type ChangePage = (start: number, answer: GivenAnswer) => GivenAnswer | null | Promise<GivenAnswer | null>;

/** A service whose features and faults can be changed at any time. */
export interface PagedService {
  readonly address: string;
  features: readonly Stop[];
  change: ChangePage;
  /** Where the requested pages began, in the order of the requests. */
  readonly starts: number[];
  close(): Promise<void>;
}

const startIn: Record<"wfs" | "oapif", (asked: ArcgisRequest) => number | null> = {
  wfs: (asked) => {
    const start = parameter(asked, "request") === "GetFeature" ? parameter(asked, "startindex") : undefined;
    return start === undefined ? null : Number(start);
  },
  oapif: ({ path, parameters }) =>
    path.endsWith("/items") && parameters.get("limit") !== "1" ? Number(parameters.get("offset") ?? 0) : null,
};

export async function startPaged(kind: "wfs" | "oapif", features: readonly Stop[]): Promise<PagedService> {
  const server: AnsweringServer = await AnsweringServer.start((asked) => {
    const answer =
      kind === "wfs" ? answerWfs(asked, service.features) : answerFeatures(asked, server.origin, service.features);
    const start = startIn[kind](asked);
    if (start === null) return answer;
    service.starts.push(start);
    return service.change(start, "body" in answer ? (answer as GivenAnswer) : { body: JSON.stringify(answer) });
  });
  const service: PagedService = {
    address: kind === "wfs" ? `wfs:${server.origin}/wfs` : `${server.origin}/api/collections/stops`,
    features,
    change: (_, answer) => answer,
    starts: [],
    close: () => server.close(),
  };
  return service;
}
