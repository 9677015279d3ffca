// vite.config.ts - two builds of one source: a folder (dist/), and with --mode single one HTML file
// (dist/single/attention-lab.html) that works from disk, the engine inside it as base64.
import { defineConfig, type Plugin } from 'vite';

/** Puts every script and style into the page itself. */
function inline(): Plugin {
    return {
        name: 'inline',
        enforce: 'post',
        generateBundle: {
            order: 'post', // when Vite has put its own into the scripts
            handler(_options, bundle) {
                const page = Object.values(bundle).find((f) => f.fileName.endsWith('.html'));
                if (!page || page.type !== 'asset') return;
                let html = String(page.source);
                for (const file of Object.values(bundle)) {
                    const name = file.fileName.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
                    if (file.type === 'chunk' && file.isEntry) {
                        const code = file.code.replaceAll('</script', '<\\/script');
                        html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), '');
                        html = html.replace('</body>', () => `<script type="module">${code}</script></body>`);
                    } else if (file.type === 'asset' && file.fileName.endsWith('.css')) {
                        html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`), () => `<style>${file.source}</style>`);
                    } else continue;
                    delete bundle[file.fileName];
                }
                page.source = html;
                page.fileName = 'attention-lab.html';
            },
        },
    };
}

export default defineConfig(({ mode }) => {
    const single = mode === 'single';
    const worker = `/src/engine/worker.ts?worker${single ? '&inline' : ''}`; // a file cannot start a Worker from another one
    return {
        base: './',
        resolve: { alias: { '#worker': worker } },
        define: { SINGLE_FILE: JSON.stringify(single) },
        esbuild: { jsx: 'transform', jsxFactory: 'createElement', jsxFragment: 'Fragment', jsxInject: "import { createElement, Fragment } from 'preact'", legalComments: 'none' },
        worker: { format: 'iife' },
        server: { fs: { allow: ['..'] } }, // engine.wasm is in build/web
        build: {
            target: 'es2022',
            outDir: single ? 'dist/single' : 'dist',
            emptyOutDir: true,
            modulePreload: { polyfill: false },
            assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0,
            cssCodeSplit: !single,
            rollupOptions: { output: single ? { inlineDynamicImports: true } : { experimentalMinChunkSize: 4000 } }, // no files of a few lines
        },
        plugins: single ? [inline()] : [],
    };
});
