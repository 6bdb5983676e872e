# The students' image, for a JupyterHub: the bundle, without answers, and nbgrader. In a folder with the bundle and with
# the students' nbgrader_config.py, which GRADING.md shows:
#     docker build --file PATH/docker/students.Dockerfile --tag attention-students .
# Build arguments: TORCH_INDEX, the index of PyTorch for CPUs (see make help), saves gigabytes; HUB is the version of
# your JupyterHub.
FROM python:3.12-slim
ARG TORCH_INDEX=
ARG HUB=
WORKDIR /opt/attention-by-hand
COPY attention-by-hand.zip ./
COPY nbgrader_config.py /etc/jupyter/
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} ./attention-by-hand.zip "nbgrader>=0.9.6,<0.10" "jupyterhub${HUB:+==$HUB}"
RUN useradd --create-home --uid 1000 student
USER student
WORKDIR /home/student
CMD ["jupyterhub-singleuser"]
