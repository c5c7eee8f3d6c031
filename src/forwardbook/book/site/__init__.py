"""The site: entries and models in, the Markdown of its pages out, and what MkDocs needs to build them."""
