"""The Deuz UI wire, pure: parts to frames, bytes to records, transcripts."""
