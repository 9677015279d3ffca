// drawing.ts - draws a picture with a pen: on a canvas of the page, or as SVG to be saved. The painters use only the
// pen, so both show the same. The SVG is self-contained, with every colour and font in it.
const NAMESPACE = 'http://www.w3.org/2000/svg';
const LEAST_CELL = 4; // pixels; smaller cells are one image

/** What painters use of a canvas. */
export interface Pen extends Pick<
    CanvasRenderingContext2D,
    'fillStyle' | 'strokeStyle' | 'lineWidth' | 'font' | 'textAlign' | 'textBaseline' | 'imageSmoothingEnabled' |
    'fillRect' | 'strokeRect' | 'fillText' | 'beginPath' | 'rect' | 'moveTo' | 'lineTo' | 'save' | 'restore' | 'translate' | 'rotate'
> {
    drawImage(image: OffscreenCanvas, x: number, y: number, width: number, height: number): void; // a pixel for each cell
    stroke(): void;
    clip(): void;
}

export interface Drawing {
    width: number; // CSS pixels
    height: number;
    paint: (pen: Pen) => void;
}

/** Clears the canvas and paints on it in CSS pixels. */
export function paintOn(canvas: HTMLCanvasElement, { width, height, paint }: Drawing): void {
    const ratio = window.devicePixelRatio || 1;
    const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
    if (canvas.width !== size.width || canvas.height !== size.height) {
        Object.assign(canvas, size);
        Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    }
    const pen = canvas.getContext('2d')!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    paint(pen);
}

type Attributes = Record<string, unknown>;

function element(name: string, attributes: Attributes): Element {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, String(typeof value === 'number' ? Math.round(value * 1000) / 1000 : value));
    return made;
}

function urlOf(image: OffscreenCanvas): string {
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d')!.drawImage(image, 0, 0);
    return canvas.toDataURL();
}

/** Writes elements where a canvas would colour pixels. */
class SvgPen implements Pen {
    fillStyle: Pen['fillStyle'] = '#000';
    strokeStyle: Pen['strokeStyle'] = '#000';
    lineWidth = 1;
    font = '10px sans-serif';
    textAlign: CanvasTextAlign = 'left';
    textBaseline: CanvasTextBaseline = 'alphabetic';
    imageSmoothingEnabled = true;
    private path = '';
    private into: Element;
    private readonly saved: object[] = [];
    private readonly ruler = document.createElement('canvas').getContext('2d')!;

    constructor(private readonly svg: Element) {
        this.into = svg;
    }

    private add(name: string, attributes: Attributes): Element {
        return this.into.appendChild(element(name, attributes));
    }

    private stroked(name: string, attributes: Attributes): void {
        this.add(name, { ...attributes, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth });
    }

    save(): void {
        this.saved.push({ ...this });
    }

    restore(): void {
        Object.assign(this, this.saved.pop());
    }

    translate(x: number, y: number): void {
        this.into = this.add('g', { transform: `translate(${x} ${y})` });
    }

    rotate(angle: number): void {
        this.into = this.add('g', { transform: `rotate(${(angle * 180) / Math.PI})` });
    }

    beginPath(): void {
        this.path = '';
    }

    rect(x: number, y: number, width: number, height: number): void {
        this.path += `M${x} ${y}h${width}v${height}h${-width}z`;
    }

    moveTo(x: number, y: number): void {
        this.path += `M${x} ${y}`;
    }

    lineTo(x: number, y: number): void {
        this.path += `L${x} ${y}`;
    }

    stroke(): void {
        this.stroked('path', { d: this.path });
    }

    clip(): void {
        const id = `clip-${this.svg.querySelectorAll('clipPath').length}`;
        this.add('clipPath', { id }).append(element('path', { d: this.path }));
        this.into = this.add('g', { 'clip-path': `url(#${id})` });
    }

    strokeRect(x: number, y: number, width: number, height: number): void {
        this.stroked('rect', { x, y, width, height });
    }

    fillRect(x: number, y: number, width: number, height: number): void {
        this.add('rect', { x, y, width, height, fill: this.fillStyle });
    }

    fillText(text: string, x: number, y: number, most = Infinity): void {
        const { ruler, font, textBaseline } = this;
        Object.assign(ruler, { font, textBaseline });
        const { width, alphabeticBaseline } = ruler.measureText(text);
        const [, weight = 'normal', size, family] = /^(bold)? ?(\d+)px (.*)/.exec(font)!;
        this.add('text', {
            x,
            y: y - alphabeticBaseline, // not every reader of SVG knows other baselines
            fill: this.fillStyle,
            'font-family': family,
            'font-size': size,
            'font-weight': weight,
            'text-anchor': { center: 'middle', right: 'end' }[this.textAlign as string] ?? 'start',
            ...(width > most && { textLength: most, lengthAdjust: 'spacingAndGlyphs' }),
        }).textContent = text;
    }

    /** Neighbours of one colour are one rectangle. */
    drawImage(image: OffscreenCanvas, x: number, y: number, width: number, height: number): void {
        const [across, down] = [image.width, image.height];
        const [w, h] = [width / across, height / down];
        if (w < LEAST_CELL) {
            const rendering = this.imageSmoothingEnabled ? 'auto' : 'pixelated';
            this.add('image', { href: urlOf(image), x, y, width, height, preserveAspectRatio: 'none', 'image-rendering': rendering });
            return;
        }
        const { data } = image.getContext('2d')!.getImageData(0, 0, across, down);
        const pixel = new Uint32Array(data.buffer);
        const cells = this.add('g', { 'shape-rendering': 'crispEdges' }); // no gaps between them
        for (let i = 0, end = 0; i < pixel.length; i = end) {
            const row = Math.floor(i / across);
            for (end = i + 1; end < (row + 1) * across && pixel[end] === pixel[i]; ) end++;
            const fill = `rgb(${data.subarray(4 * i, 4 * i + 3)})`;
            if (pixel[i]) cells.append(element('rect', { x: x + (i % across) * w, y: y + row * h, width: (end - i) * w, height: h, fill }));
        }
    }
}

export function svgOf({ width, height, paint }: Drawing): SVGSVGElement {
    const svg = element('svg', { width, height, viewBox: `0 0 ${width} ${height}` }) as SVGSVGElement;
    paint(new SvgPen(svg));
    return svg;
}
