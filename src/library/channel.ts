/** Hands groups of things from a producer to a consumer, one group at a time: the producer waits until it is taken. */
export class Channel<T> {
  private group: readonly T[] | null = null;
  private isClosed = false;
  private failure: { readonly error: unknown } | null = null;
  private taken: () => void = () => {};
  private given: () => void = () => {};

  /** Fulfilled when all of the group was consumed, or the consumer has gone. */
  give(group: readonly T[]): Promise<void> {
    if (this.isClosed || group.length === 0) return Promise.resolve();
    this.group = group;
    return new Promise((resolve) => {
      this.taken = resolve;
      this.given();
    });
  }

  /** Nothing more comes; a failure is thrown to the consumer. */
  close(failure: { readonly error: unknown } | null = null): void {
    this.isClosed = true;
    this.failure ??= failure;
    this.given();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const { group } = this;
        if (group) {
          yield* group;
          this.group = null;
          this.taken();
        } else if (this.isClosed) {
          if (this.failure) throw this.failure.error;
          return;
        } else
          await new Promise<void>((resolve) => {
            this.given = resolve;
          });
      }
    } finally {
      this.isClosed = true;
      this.taken();
    }
  }
}
