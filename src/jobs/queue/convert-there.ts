/** A step whose files workers convert: what is to be done is decided here, and one job handed out for each output. */
import pLimit from "p-limit";
import { asGeoferryError, fault } from "../../errors.js";
import { tellableInputs } from "../../io/without-secrets.js";
import { planConversions } from "../../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import type { Bookkeeping, Finished } from "../convert-step.js";
import { leftAsItIs } from "../converted.js";
import type { ConversionStep, SynchronisationStep } from "../job.js";
import { abortable } from "./abortable.js";
import type { Entry } from "./desk.js";
import type { HandOut } from "./hand-out.js";
import { errorOf } from "./handed.js";
import { inputNames, seenOf } from "./input-names.js";
import { workQueue } from "./names.js";
import { piecesFolder, removePieces } from "./pieces.js";
import { rideOn } from "./synchronise-there.js";

/** So many outputs are decided about at a time. */
const decisions = 16;
/** So many jobs go to Redis in one message. */
const parcel = 100;

interface Due {
  readonly input: string;
  readonly output: string;
  readonly entry: Entry;
}

/**
 * @param rider a step that workers may do as soon as all of this one's jobs are done
 * @throws what `convertMany` throws before it begins
 */
export async function convertThere(
  handOut: HandOut,
  step: ConversionStep,
  host: Host,
  books: Bookkeeping,
  rider: SynchronisationStep | null,
): Promise<readonly Finished[]> {
  const { signal } = host;
  const { request, conversions, refused } = await planConversions(step.request, host);
  const finished: Finished[] = refused.map(({ input, output, error }) => ({
    input,
    output,
    converted: null,
    error: error!,
  }));
  const limit = pLimit(decisions);
  const awaited: Promise<Finished>[] = [];
  const held: Due[] = [];
  const handed: Due[] = [];
  const expect = (dues: readonly Due[]) => {
    awaited.push(...dues.map((due) => finishedOf(handOut, due, books, signal)));
    handed.push(...dues);
    noteHanded(handOut, step, dues, books);
  };
  const send = async (dues: readonly Due[]) => {
    for (let from = 0; from < dues.length; from += parcel) {
      const some = dues.slice(from, from + parcel);
      expect(some);
      await abortable(handOut.desk.add(some.map(({ entry }) => entry)), signal);
    }
  };
  try {
    const decided = await Promise.all(
      conversions.map(({ inputs, output }) =>
        limit(async () => {
          const one = { ...request, inputs, output };
          const due = await decide(handOut, step, one, books, signal);
          if ("converted" in due) return due;
          held.push(due);
          // With a rider all go at once, or it might go before some are there.
          if (rider === null && held.length >= parcel) await send(held.splice(0));
          return null;
        }),
      ),
    );
    finished.push(...decided.filter((one) => one !== null));
    if (rider !== null && held.length > 0 && finished.every(({ converted }) => converted)) {
      expect(held);
      const entries = held.map(({ entry }) => entry);
      await abortable(rideOn(handOut, rider, entries), signal);
    } else await send(held);
    finished.push(...(await Promise.all(awaited)));
  } finally {
    await Promise.allSettled(awaited);
    if (signal.aborted) {
      await handOut.withdraw(step.name);
      for (const { output, entry } of handed) removePieces(piecesFolder(output, entry.id));
    }
  }
  const order = new Map(conversions.map(({ output }, index) => [output, index]));
  return finished.sort((a, b) => (order.get(a.output) ?? -1) - (order.get(b.output) ?? -1));
}

function noteHanded(handOut: HandOut, step: ConversionStep, dues: readonly Due[], { about }: Bookkeeping): void {
  const outputs = dues.map(({ output }) => ({ output, written: { ...about(output), files: [] } }));
  handOut.options.state.handOut(step.name, outputs);
}

async function decide(
  handOut: HandOut,
  step: ConversionStep,
  request: ConvertRequest,
  books: Bookkeeping,
  signal: AbortSignal,
): Promise<Due | Finished> {
  const { output } = request;
  const { registry } = handOut.options.host;
  const input = tellableInputs(request.inputs, registry);
  try {
    signal.throwIfAborted();
    const decided = await books.decide(request);
    if (decided === null) {
      return { input, output, converted: leftAsItIs };
    }
    const entry = handOut.entry(
      step,
      workQueue,
      {
        takes: "conversion",
        inputs: inputNames(decided.inputs, step.request.inputs, registry),
        output: output === step.request.output ? null : output,
        overwrite: decided.overwrite ?? false,
        sources: seenOf(books.about(output).sources, registry),
      },
      input,
    );
    return { input, output, entry };
  } catch (error) {
    const told = signal.aborted ? fault("interrupted", {}, error) : asGeoferryError(error);
    return { input, output, converted: null, error: told };
  }
}

/** Never throws. */
async function finishedOf(
  handOut: HandOut,
  { input, output, entry }: Due,
  books: Bookkeeping,
  signal: AbortSignal,
): Promise<Finished> {
  let finished: Finished;
  try {
    const ending = await handOut.ending(entry, signal);
    if ("answer" in ending) {
      const { worker, converted } = ending.answer;
      finished = { input, output, worker, converted: converted!, digests: converted!.digests };
    } else {
      const { failure } = ending;
      const { worker } = failure;
      finished = { input, output, converted: null, error: errorOf(failure), ...(worker === null ? {} : { worker }) };
    }
    books.keep(finished);
    // Not before: until it is kept, the next run would ask the queue what became of it.
    handOut.desk.forget([entry]);
    return finished;
  } catch (error) {
    return { input, output, converted: null, error: asGeoferryError(error) };
  }
}
