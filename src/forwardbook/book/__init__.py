"""The book turns facts into pages of Markdown and Mermaid, and judges every claim that a page makes."""
