# The platform: every role of `heddle serve`, `heddle up`, and the build tools for deployments from source.
#
#     docker build -t heddle .
#     docker run -p 127.0.0.1:2026:2026 -p 127.0.0.1:3000:3000 -v heddle:/var/lib/heddle heddle
#
# Any image with Node 20.16 or newer and npm will do as NODE_IMAGE. compose.yaml shows an installation.
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --pack-destination /tmp && mv /tmp/heddle-*.tgz /tmp/heddle.tgz

FROM ${NODE_IMAGE}
# git fetches repositories that are deployed from; Python runs graphs in Python and creates their environments
RUN (command -v git && python3 -m venv --help) > /dev/null 2>&1 \
  || (apt-get update && apt-get install -y --no-install-recommends ca-certificates git python3 python3-venv \
  && rm -rf /var/lib/apt/lists/*)
COPY --from=build /tmp/heddle.tgz /tmp/heddle.tgz
# stores traces when there is no ClickHouse; only available for linux/amd64, elsewhere: --build-arg CHDB=
ARG CHDB=chdb@3.4.0
RUN npm install -g --no-audit --no-fund /tmp/heddle.tgz ${CHDB} && rm -rf /tmp/heddle.tgz /root/.npm \
  && mkdir -p /var/lib/heddle && chown node /var/lib/heddle
USER node
ENV HEDDLE_HOST=0.0.0.0 HEDDLE_DATA_DIR=/var/lib/heddle
WORKDIR /var/lib/heddle
VOLUME /var/lib/heddle
EXPOSE 1984 2024 2026 3000
# whichever role runs; with other ports, override it with --health-cmd
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "Promise.any([2026, 2024, 1984, 3000].map((port) => fetch('http://127.0.0.1:' + port + '/livez').then((response) => response.ok || Promise.reject()))).then(() => process.exit(0), () => process.exit(1))"]
ENTRYPOINT ["heddle"]
CMD ["up"]
