import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: process.env['CONSOLE_OUT'] ?? 'dist',
    emptyOutDir: true,
    // A data: address would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev -w console` serves the page beside a gateway on its usual port.
  server: { proxy: { '/v1': 'http://127.0.0.1:8787' } },
});
