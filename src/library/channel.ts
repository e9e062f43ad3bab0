/** Passes groups of items from a producer to a consumer, one at a time; the producer waits until a group is consumed. */
export class Channel<T> {
  private group: readonly T[] | null = null;
  private isClosed = false;
  private failure: { readonly error: unknown } | null = null;
  private onTaken: () => void = () => {};
  private onGiven: () => void = () => {};

  /** Resolves when the whole group was consumed, or the consumer has ended. */
  push(group: readonly T[]): Promise<void> {
    if (this.isClosed || group.length === 0) return Promise.resolve();
    this.group = group;
    return new Promise((resolve) => {
      this.onTaken = resolve;
      this.onGiven();
    });
  }

  /** Ends the channel; a failure is thrown to the consumer. */
  close(failure: { readonly error: unknown } | null = null): void {
    this.isClosed = true;
    this.failure ??= failure;
    this.onGiven();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const { group } = this;
        if (group) {
          yield* group;
          this.group = null;
          this.onTaken();
        } else if (this.isClosed) {
          if (this.failure) throw this.failure.error;
          return;
        } else
          await new Promise<void>((resolve) => {
            this.onGiven = resolve;
          });
      }
    } finally {
      this.isClosed = true;
      this.onTaken();
    }
  }
}
