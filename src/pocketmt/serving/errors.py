"""Errors that are answered to a client."""


class RequestError(Exception):
    """A request that cannot be answered; the message is sent to the client.

    Attributes:
        status: of the HTTP answer.
        retry_after: seconds after which the client may try again; None: it need not.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
