"""What several exercises share: tables of mistakes, and makers of inputs."""
