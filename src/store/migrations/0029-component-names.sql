-- Names of components and groups made over the API in other languages, as JSON by tag.
ALTER TABLE component ADD COLUMN names TEXT;
