/** The bar that shows a distance on the map. */
const maxPixels = 110;

let shown = "";

export function renderScale(element: HTMLElement, metresPerPixel: number): void {
  const most = maxPixels * metresPerPixel;
  const power = 10 ** Math.floor(Math.log10(most));
  const metres = [5, 2, 1].map((factor) => factor * power).find((length) => length <= most) ?? power;
  const text = metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : `${metres * 100} cm`;
  const width = `${Math.round(metres / metresPerPixel)}px`;
  if (`${text} ${width}` === shown) return;
  shown = `${text} ${width}`;
  element.textContent = text;
  element.style.width = width;
}
