/** What a write tells of the features that it was carried out on (Map Features Service Interface, 2.4), as JSON. */
import type { Written, WrittenText } from "./contract.js";

const messages: Readonly<Record<Written["what"], string>> = {
  created: "Feature successfully created.",
  updated: "Feature successfully updated.",
  deleted: "Feature successfully deleted.",
};
const kinds = new Map(Object.entries(messages).map(([what, message]) => [message, what as Written["what"]]));

/** What stands behind an id. Nothing in it, and no id, needs an escape. */
const behind: Readonly<Record<Written["what"], string>> = {
  created: `","message":"${messages.created}"}`,
  updated: `","message":"${messages.updated}"}`,
  deleted: `","message":"${messages.deleted}"}`,
};

/** Written by hand: a third of the time of JSON.stringify with an object for each. */
export function writtenText(success: readonly Written[]): WrittenText {
  let created = 0;
  const parts = success.map(({ id, what }) => {
    if (what === "created") created++;
    return `{"id":"${id}${behind[what]}`;
  });
  return { json: `[${parts.join(",")}]`, count: success.length, created };
}

/** The features of a text again. `indexes`: their places in the request. */
export function writtenIn({ json }: WrittenText, indexes: Uint32Array): readonly Written[] {
  const told: { readonly id: string; readonly message: string }[] = JSON.parse(json);
  return told.map(({ id, message }, i) => ({ index: indexes[i]!, id, what: kinds.get(message)! }));
}
