-- Texts are found without reading all of them: an index knows of each granule (up to 2,048 pieces of runs) which sequences
-- of four characters occur in its texts. A word that 100,000 pieces lack took 76 ms, and takes 6. The index takes a tenth
-- of the data's size.
-- The expression is that of trace/filter/search-pieces.ts. Old parts get it in the background.

-- local only
alter table runs add index if not exists words
  lowerUTF8(concat(ifNull(name, ''), '|', ifNull(error, ''), '|', ifNull(inputs, ''), '|', ifNull(outputs, ''), '|',
    ifNull(tags, ''), '|', ifNull(metadata, '')))
  type ngrambf_v1(4, 65536, 2, 0) granularity 1;

-- local only
alter table runs materialize index words settings mutations_sync = 0;
