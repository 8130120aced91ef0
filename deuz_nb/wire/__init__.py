"""The Deuz UI wire: frames, versions, transcripts."""
