# The command alone, as goreleaser builds it: TARGETPLATFORM/mcpotel is the program for the platform of the image. By hand:
#
#   CGO_ENABLED=0 go build -trimpath -o linux/amd64/mcpotel ./cmd/mcpotel
#   docker build --platform linux/amd64 -t mcpotel .
#
# The image has certificates, a user that is not root, and nothing else: no shell, node or python. It reaches servers at
# a URL. For a server that the command is to start, copy the program into an image that has the server's runtime:
#
#   FROM node:22-slim
#   COPY --from=ghcr.io/mcpotel/mcpotel:latest /usr/local/bin/mcpotel /usr/local/bin/mcpotel
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/mcpotel /usr/local/bin/mcpotel
ENTRYPOINT ["/usr/local/bin/mcpotel"]
