import type { WireFeature } from "../../../remote/wire.js";

interface FeaturePageBody {
  readonly features: readonly WireFeature[];
  readonly last: number | null;
  readonly more: boolean;
}

/** Maximum number of features and of JSON characters to fetch, to bound memory. */
const fetchLimits = { features: 100_000, characters: 128 * 1024 * 1024 } as const;

/** The features of a map, page by page, up to the limits. */
export async function* fetchFeaturePages(address: string): AsyncGenerator<readonly WireFeature[]> {
  let after: number | null = null;
  let [features, characters] = [0, 0];
  do {
    const text = await fetchText(after === null ? address : `${address}?after=${after}`);
    const page = JSON.parse(text) as FeaturePageBody;
    yield page.features;
    if (!page.more) return;
    after = page.last;
    features += page.features.length;
    characters += text.length;
  } while (features < fetchLimits.features && characters < fetchLimits.characters);
}

async function fetchText(address: string): Promise<string> {
  // A redirect leads to the sign-in page.
  const response = await fetch(address, { redirect: "error" });
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.text();
}
