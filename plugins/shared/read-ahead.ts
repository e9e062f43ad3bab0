/** Requests that are sent before their responses are needed. */

/** A request that is likely to be needed next. */
export interface NextRequest<Response> {
  /** Identifies the request. */
  readonly key: string;
  readonly send: () => Promise<Response>;
}

export class ReadAhead<Response> {
  private readonly waiting = new Map<string, Promise<Response>>();
  private readonly running = new Set<Promise<unknown>>();

  /** @param parallel most requests at once, with the one that is needed now; 1 sends none ahead */
  constructor(private readonly parallel: number) {}

  /** Whether requests were sent whose responses are not taken yet. */
  get hasWaiting(): boolean {
    return this.waiting.size > 0;
  }

  expects(key: string): boolean {
    return this.waiting.has(key);
  }

  /**
   * The response to a request, sent ahead or now. `next` are sent beside it, and again as many as are allowed when it has
   * arrived.
   */
  async get(request: NextRequest<Response>, next: () => Iterable<NextRequest<Response>>): Promise<Response> {
    const sent = this.waiting.get(request.key) ?? this.start(request);
    this.waiting.delete(request.key);
    this.fill(next(), this.parallel - 1);
    const response = await sent;
    this.fill(next(), this.parallel > 1 ? this.parallel : 0);
    return response;
  }

  private start({ send }: NextRequest<Response>): Promise<Response> {
    const sent = send();
    const settled: Promise<unknown> = sent
      .catch(() => undefined)
      .then(() => {
        this.running.delete(settled);
      });
    this.running.add(settled);
    return sent;
  }

  private fill(next: Iterable<NextRequest<Response>>, size: number): void {
    if (this.waiting.size >= size) return;
    for (const request of next) {
      if (!this.waiting.has(request.key)) this.waiting.set(request.key, this.start(request));
      if (this.waiting.size >= size) return;
    }
  }

  /** Forgets requests that turned out to be wrong. */
  drop(): void {
    this.waiting.clear();
  }

  /** Waits for requests that are under way, so that none outlives the download. */
  async close(): Promise<void> {
    this.drop();
    while (this.running.size > 0) await Promise.all(this.running);
  }
}
