/** Serializes the features of a write outcome (Map Features Service Interface, 2.4). */
import type { WriteResultJson, WrittenFeature } from "./contract.js";

const successMessages: Readonly<Record<WrittenFeature["what"], string>> = {
  created: "Feature successfully created.",
  updated: "Feature successfully updated.",
  deleted: "Feature successfully deleted.",
};
const changesByMessage = new Map(
  Object.entries(successMessages).map(([what, message]) => [message, what as WrittenFeature["what"]]),
);

/** The text after an id. Neither contains characters that need escaping. */
const suffixes: Readonly<Record<WrittenFeature["what"], string>> = {
  created: `","message":"${successMessages.created}"}`,
  updated: `","message":"${successMessages.updated}"}`,
  deleted: `","message":"${successMessages.deleted}"}`,
};

/** Concatenation takes a third of the time of JSON.stringify. */
export function serializeWrittenFeatures(success: readonly WrittenFeature[]): WriteResultJson {
  let created = 0;
  const parts = success.map(({ id, what }) => {
    if (what === "created") created++;
    return `{"id":"${id}${suffixes[what]}`;
  });
  return { json: `[${parts.join(",")}]`, count: success.length, created };
}

/** Inverse of `serializeWrittenFeatures`. @param indexes indexes of the features in the request */
export function parseWrittenFeatures({ json }: WriteResultJson, indexes: Uint32Array): readonly WrittenFeature[] {
  const features: { readonly id: string; readonly message: string }[] = JSON.parse(json);
  return features.map(({ id, message }, i) => ({ index: indexes[i]!, id, what: changesByMessage.get(message)! }));
}
