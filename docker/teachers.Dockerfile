# The teachers' image, for a JupyterHub or by itself: this repository, with nbgrader and formgrader. In its folder:
#     docker build --file docker/teachers.Dockerfile --tag attention-teachers .
# Build arguments: TORCH_INDEX, the index of PyTorch for CPUs (see make help), saves gigabytes; HUB is the version of
# your JupyterHub.
# It holds every answer: students get the other image.
FROM python:3.12-slim
ARG TORCH_INDEX=
ARG HUB=
WORKDIR /opt/attention-by-hand
COPY pyproject.toml setup.py MANIFEST.in LICENSE CHANGELOG.md ./
COPY autograder autograder
COPY solutions solutions
COPY images images
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} ".[teach]" "jupyterhub${HUB:+==$HUB}"
RUN useradd --create-home --uid 1000 teacher
USER teacher
WORKDIR /home/teacher
CMD ["jupyterhub-singleuser"]
