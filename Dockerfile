# The platform: every role of `heddle serve`, `heddle up`, and the build tools for deployments from source.
#
#     docker build --build-arg CHDB=chdb@3.4.0 -t heddle .
#     docker run -p 127.0.0.1:2026:2026 -p 127.0.0.1:3000:3000 -v heddle:/var/lib/heddle heddle
#
# Without CHDB, the image is half the size and works on every architecture, but needs a ClickHouse (CLICKHOUSE_URL).
# Any image with Node 20.16 or newer and npm will do as NODE_IMAGE. compose.yaml shows an installation.
# For several architectures: docker buildx build --platform linux/amd64,linux/arm64.
ARG NODE_IMAGE=node:24-bookworm-slim

# what it makes is the same for every architecture, so it runs on the builder's own
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund && npm run build

# the production dependencies in the lock file, and their software bill of materials
FROM ${NODE_IMAGE} AS app
WORKDIR /opt/heddle
COPY package.json package-lock.json .npmrc ./
# stores traces if there is no ClickHouse; only for linux/amd64; adds 540 MB
ARG CHDB=
# call models in the playground: "@langchain/openai@1.5.8 @langchain/core@1.4.0" (docs/playground.md); adds up to 76 MB
ARG MODELS=
RUN npm ci --omit=dev --workspaces=false --no-audit --no-fund \
  && npm pkg delete devDependencies workspaces scripts \
  && if [ -n "${CHDB}" ]; then npm install --save-exact --no-audit --no-fund "${CHDB}"; fi \
  && if [ -n "${MODELS}" ]; then npm install --save-exact --no-audit --no-fund ${MODELS}; fi \
  && npm sbom --sbom-format cyclonedx > sbom.cdx.json \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -delete
COPY cli/bin cli/bin
COPY --from=build /src/dist dist

FROM ${NODE_IMAGE}
# git fetches repositories that are deployed from; Python runs graphs in Python and creates their environments
RUN (command -v git && python3 -m venv --help) > /dev/null 2>&1 \
  || (apt-get update && apt-get install -y --no-install-recommends ca-certificates git python3 python3-venv \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/* /usr/share/doc/* /usr/share/man/*)
COPY --from=app /opt/heddle /opt/heddle
RUN ln -s /opt/heddle/cli/bin/heddle.js /usr/local/bin/heddle \
  && mkdir -p /var/lib/heddle && chown node /var/lib/heddle
USER node
ENV HEDDLE_HOST=0.0.0.0 HEDDLE_DATA_DIR=/var/lib/heddle
WORKDIR /var/lib/heddle
VOLUME /var/lib/heddle
EXPOSE 1984 2024 2026 2027 3000
# whichever role runs; with other ports, override it with --health-cmd
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "Promise.any([2026, 2027, 2024, 1984, 3000].map((port) => fetch('http://127.0.0.1:' + port + '/livez').then((response) => response.ok || Promise.reject()))).then(() => process.exit(0), () => process.exit(1))"]
ENTRYPOINT ["heddle"]
CMD ["up"]
