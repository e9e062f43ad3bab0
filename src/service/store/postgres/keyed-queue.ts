/** Runs work with the same key one at a time, in order of arrival. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name) ?? Promise.resolve();
    const mine = before.then(work);
    const ended = mine.then(
      () => undefined,
      () => undefined,
    );
    this.last.set(name, ended);
    try {
      return await mine;
    } finally {
      if (this.last.get(name) === ended) this.last.delete(name);
    }
  }
}
