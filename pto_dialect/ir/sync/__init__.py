"""Operations that order others, and queues and transfers between cores and ranks."""
