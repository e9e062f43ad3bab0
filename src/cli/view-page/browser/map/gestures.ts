/** Mouse, touch, wheel and keys of the map. */
import type { Camera, Point } from "./camera.js";

export interface GestureEvents {
  /** The camera moved. */
  onMove(): void;
  /** A click, a tap, or Enter in the middle. */
  onPick(point: Point): void;
  /** The pointer is over a place; null: it left. */
  onHover(point: Point | null): void;
}

/** Pixels that a pointer may move in a click. */
const clickPixels = 5;

/** Milliseconds in which the speed of a drag is measured, and after which it has come to rest. */
const glideWindow = 80;
const glideTime = 350;

const keyPixels = 90;

export class Gestures {
  private readonly pointers = new Map<number, Point>();
  private moved = 0;
  private trail: { readonly time: number; readonly point: Point }[] = [];
  private animation = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: Camera,
    private readonly events: GestureEvents,
  ) {
    canvas.addEventListener("pointerdown", this.onDown);
    canvas.addEventListener("pointermove", this.onPointer);
    canvas.addEventListener("pointerup", this.onUp);
    canvas.addEventListener("pointercancel", this.onUp);
    canvas.addEventListener("pointerleave", () => events.onHover(null));
    canvas.addEventListener("wheel", this.onWheel, { passive: false });
    canvas.addEventListener("dblclick", (event) =>
      this.animateZoom(camera.zoom + (event.shiftKey ? -1 : 1), at(event)),
    );
    canvas.addEventListener("keydown", this.onKey);
  }

  private readonly onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.stop();
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, at(event));
    if (this.pointers.size === 1) this.moved = 0;
    this.trail = [{ time: event.timeStamp, point: at(event) }];
  };

  private readonly onPointer = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    const point = at(event);
    if (!before) {
      this.events.onHover(point);
      return;
    }
    this.moved += Math.hypot(point.x - before.x, point.y - before.y);
    if (this.pointers.size === 1) this.camera.panBy(before.x - point.x, before.y - point.y);
    else this.pinch(event.pointerId, before, point);
    this.pointers.set(event.pointerId, point);
    this.trail.push({ time: event.timeStamp, point });
    while (event.timeStamp - this.trail[0]!.time > glideWindow) this.trail.shift();
    this.events.onMove();
  };

  private pinch(id: number, before: Point, point: Point): void {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const [old, now] = [before, point].map(({ x, y }) => Math.hypot(x - other.x, y - other.y));
    const middle = { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 };
    this.camera.panBy((before.x - point.x) / 2, (before.y - point.y) / 2);
    if (old! > 0 && now! > 0) this.camera.zoomAt(this.camera.zoom + Math.log2(now! / old!), middle);
  }

  private readonly onUp = (event: PointerEvent): void => {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size > 0) return;
    if (this.moved <= clickPixels && event.type === "pointerup") this.events.onPick(at(event));
    else this.glide(event.timeStamp);
  };

  /** Goes on moving for a moment after a fast drag. */
  private glide(now: number): void {
    const [first, last] = [this.trail[0], this.trail.at(-1)];
    if (!first || !last || first === last || now - last.time > glideWindow || prefersStillness()) return;
    const time = Math.max(1, last.time - first.time);
    const [vx, vy] = [(first.point.x - last.point.x) / time, (first.point.y - last.point.y) / time];
    if (Math.hypot(vx, vy) < 0.2) return;
    let before = performance.now();
    this.animate(glideTime, (share) => {
      const elapsed = performance.now() - before;
      before += elapsed;
      this.camera.panBy(vx * elapsed * (1 - share), vy * elapsed * (1 - share));
    });
  }

  private readonly onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    this.stop();
    const pixels =
      event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : event.deltaMode === 2 ? 400 : 1);
    // A pinch on a touchpad comes as a wheel with Ctrl, in smaller steps.
    const change = Math.max(-1, Math.min(1, -pixels / (event.ctrlKey ? 80 : 320)));
    this.camera.zoomAt(this.camera.zoom + change, at(event));
    this.events.onMove();
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { camera } = this;
    const middle = { x: camera.width / 2, y: camera.height / 2 };
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.animatePan(-keyPixels, 0),
      ArrowRight: () => this.animatePan(keyPixels, 0),
      ArrowUp: () => this.animatePan(0, -keyPixels),
      ArrowDown: () => this.animatePan(0, keyPixels),
      "+": () => this.animateZoom(camera.zoom + 1, middle),
      "=": () => this.animateZoom(camera.zoom + 1, middle),
      "-": () => this.animateZoom(camera.zoom - 1, middle),
      Enter: () => this.events.onPick(middle),
      " ": () => this.events.onPick(middle),
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  };

  private animatePan(dx: number, dy: number): void {
    let done = 0;
    this.animate(120, (share) => {
      this.camera.panBy(dx * (share - done), dy * (share - done));
      done = share;
    });
  }

  animateZoom(zoom: number, point: Point): void {
    const start = this.camera.zoom;
    this.animate(180, (share) => this.camera.zoomAt(start + (zoom - start) * share, point));
  }

  /** @param step gets a share that grows to 1 */
  private animate(milliseconds: number, step: (share: number) => void): void {
    this.stop();
    const started = performance.now();
    const duration = prefersStillness() ? 0 : milliseconds;
    const next = () => {
      const share = duration === 0 ? 1 : Math.min(1, (performance.now() - started) / duration);
      step(share);
      this.events.onMove();
      this.animation = share < 1 ? requestAnimationFrame(next) : 0;
    };
    next();
  }

  private stop(): void {
    cancelAnimationFrame(this.animation);
    this.animation = 0;
  }
}

/** In pixels of the map. */
const at = ({ offsetX, offsetY }: MouseEvent): Point => ({ x: offsetX, y: offsetY });

const prefersStillness = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
