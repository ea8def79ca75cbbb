// The whole world from above, in a corner: what stands, who moves where, and where the camera is. A click goes there.
const SIDE = 150; // pixels
const EVERY_MS = 100;

export class Minimap {
  constructor(canvas, onGo) {
    this.canvas = canvas;
    this.ratio = Math.min(2, window.devicePixelRatio);
    canvas.width = canvas.height = SIDE * this.ratio;
    this.drawnAt = -Infinity;
    this.blocks = []; // outlines of what stands, [[x, y]…] each
    this.on = false;
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const [u, v] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      onGo(this.centre[0] + (u - 0.5) * this.side, this.centre[1] + (0.5 - v) * this.side);
    });
  }
  /** [{group, colour}] */
  build(bodies) {
    this.bodies = bodies;
  }
  /** Shown where there is something to find one's way in. */
  fit(centre, size) {
    this.on = this.bodies?.length > 3 && size > 15;
    this.canvas.hidden = !this.on;
    this.centre = centre;
    this.side = size * 1.1;
    this.drawnAt = -Infinity;
  }
  draw(camera, target, now) {
    if (!this.on || now - this.drawnAt < EVERY_MS) return;
    this.drawnAt = now;
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const pixels = SIDE * this.ratio;
    const at = (x, y) => [(0.5 + (x - this.centre[0]) / this.side) * pixels, (0.5 - (y - this.centre[1]) / this.side) * pixels];
    context.clearRect(0, 0, pixels, pixels);
    context.fillStyle = style.getPropertyValue("--line");
    for (const block of this.blocks) {
      context.beginPath();
      block.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](...at(x, y)));
      context.fill();
    }
    const [cx, cy] = at(camera.position.x, camera.position.y);
    const away = Math.atan2(-(target.y - camera.position.y), target.x - camera.position.x);
    context.fillStyle = style.getPropertyValue("--accent");
    context.globalAlpha = 0.25;
    context.beginPath();
    context.moveTo(cx, cy);
    context.arc(cx, cy, pixels * 0.3, away - 0.5, away + 0.5);
    context.fill();
    context.globalAlpha = 1;
    for (const { group, colour } of this.bodies) {
      const [x, y] = at(group.position.x, group.position.y);
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, y, 2.4 * this.ratio, 0, 7);
      context.fill();
    }
  }
}
