FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist dist
# The files stay root's: the gateway can read its own code but not change it.
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8787) + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The flags of `npm start`. Room for young objects (MiB): with V8's own 16, requests under way outlive collections and pile up
# among the old ones, whose collection is dear. Takes at most some 50 MiB more memory. Little is left to copy then, which one thread
# does for less than it costs to wake others (docs/decisions/0018-garbage-of-requests.md).
CMD ["node", "--max-semi-space-size=32", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--use-largepages=silent", "--enable-source-maps", "dist/src/main.js"]
