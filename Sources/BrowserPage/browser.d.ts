// What the page uses of browsers and Debian's TypeScript does not know yet. For the type check only.
interface OffscreenCanvas {
  width: number;
  height: number;
  getContext(kind: '2d', options?: CanvasRenderingContext2DSettings): CanvasRenderingContext2D | null;
  convertToBlob(options?: { type?: string; quality?: number }): Promise<Blob>;
}
declare var OffscreenCanvas: { new (width: number, height: number): OffscreenCanvas };
declare var DecompressionStream: { new (format: 'gzip'): GenericTransformStream };
