FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production
# Whatever NODE_ENV is: nothing outside the container reaches its own 127.0.0.1.
ENV HOST=0.0.0.0
# As of `npm start`, too: Node leaves half of these threads to name look-ups (docs/decisions/0021-name-look-ups.md).
ENV UV_THREADPOOL_SIZE=16
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist dist
COPY --from=build /app/console/dist console/dist
# The files stay root's: the gateway can read its own code but not change it.
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8787) + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The flags of `npm start`, which docs/decisions/0018-garbage-of-requests.md is about: room for young objects (MiB), collected by one
# thread and none of them made old from the start, and large pages for Node's own code. A busy gateway takes some 415 MB.
CMD ["node", "--max-semi-space-size=64", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--use-largepages=silent", "--enable-source-maps", "dist/src/main.js"]
