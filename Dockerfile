# syntax=docker/dockerfile:1
# Tabwire as a service, from the file that npm would publish:
#   docker build --tag tabwire .
#   docker run --publish 127.0.0.1:4100:4100 --volume tabwire:/data tabwire
# A tag can be moved. To build from one image for good, pass its digest, which your registry shows:
#   docker build --build-arg NODE_IMAGE=node:24-alpine@sha256:… --tag tabwire .
ARG NODE_IMAGE=node:24-alpine
FROM ${NODE_IMAGE} AS packed
WORKDIR /source
COPY . .
# Packing builds it; installing would do so once more.
RUN npm ci --ignore-scripts --no-audit --no-fund && mkdir /packed && npm pack --pack-destination /packed

FROM ${NODE_IMAGE}
# pg is for `start --store`.
RUN --mount=type=bind,from=packed,source=/packed,target=/packed \
    npm install --global --omit=dev --no-audit --no-fund /packed/*.tgz pg@8 && \
    npm cache clean --force && \
    mkdir -m 711 /data && chown node:node /data
# TABWIRE_IMAGE tells doctor how to update. Settings of the user are in the volume too, because a home is new in each container.
# Links and QR codes begin with TABWIRE_PUBLIC_URL: only the host of the container knows the port that it publishes.
ENV NODE_ENV=production TABWIRE_IMAGE=1 TABWIRE_DATA_DIR=/data TABWIRE_HOST=0.0.0.0 XDG_STATE_HOME=/data/.state \
    TABWIRE_PUBLIC_URL=http://localhost:4100
USER node
WORKDIR /data
VOLUME /data
EXPOSE 4100
STOPSIGNAL SIGTERM
# By HTTP or, with TABWIRE_HTTPS or --https, by HTTPS. It stays in the container, so it needs no certificate.
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s \
  CMD ["node", "--no-warnings", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const answers = async (scheme) => { const { ok } = await fetch(`${scheme}://127.0.0.1:${process.env.TABWIRE_PORT ?? 4100}/_sim/health`); if (!ok) throw new Error('not healthy') }; Promise.any(['http', 'https'].map(answers)).then(() => process.exit(0), () => process.exit(1))"]
ENTRYPOINT ["tabwire"]
CMD ["start"]
