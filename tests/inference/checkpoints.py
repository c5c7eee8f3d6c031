"""Tiny checkpoints with random weights, their tokenizers and processors, saved as any checkpoint is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers as t
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "and",
    "then",
    "slept",
    "again",
]
SPECIAL = ["<pad>", "</s>", "<unk>", "<mask>"]


def tokenizer(words: list[str], special: list[str] = SPECIAL) -> Any:
    """A token for each word."""
    vocabulary = {word: number for number, word in enumerate([*special, *words])}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return t.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=64,
    )


SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
PATCHES = {**SIZES, "image_size": 32, "patch_size": 8}
TOKENS = {"vocab_size": len(WORDS) + len(SPECIAL), "pad_token_id": 0, "eos_token_id": 1}


def save(model: Any, folder: Path, *beside: Any) -> Path:
    """The model and what belongs beside it, in a folder."""
    model.eval().save_pretrained(folder)
    for one in beside:
        one.save_pretrained(folder)
    return folder


def llama(folder: Path) -> Path:
    """A causal language model."""
    torch.manual_seed(0)
    config = t.LlamaConfig(**SIZES, **TOKENS, num_key_value_heads=2, bos_token_id=1)
    return save(t.LlamaForCausalLM(config), folder, tokenizer(WORDS))


def t5(folder: Path) -> Path:
    """An encoder with a decoder."""
    torch.manual_seed(0)
    config = t.T5Config(
        d_model=32, d_ff=64, d_kv=8, num_layers=2, num_heads=4, decoder_start_token_id=0, **TOKENS
    )
    return save(t.T5ForConditionalGeneration(config), folder, tokenizer(WORDS))


def vit(folder: Path) -> Path:
    """A classifier of images."""
    torch.manual_seed(0)
    config = t.ViTConfig(**PATCHES, id2label={0: "cat", 1: "dog", 2: "tree"}, label2id={})
    return save(t.ViTForImageClassification(config), folder, t.ViTImageProcessorPil(size=32))


def yolos(folder: Path) -> Path:
    """A detector of objects."""
    torch.manual_seed(0)
    sizes = {**PATCHES, "image_size": [32, 32], "num_detection_tokens": 5}
    config = t.YolosConfig(**sizes, id2label={0: "cat", 1: "dog"}, label2id={"cat": 0, "dog": 1})
    size = {"height": 32, "width": 32}
    return save(t.YolosForObjectDetection(config), folder, t.YolosImageProcessorPil(size=size, do_pad=False))


def bert(folder: Path, kind: str = "BertForMaskedLM") -> Path:
    """An encoder with a head."""
    torch.manual_seed(0)
    config = t.BertConfig(**SIZES, **TOKENS)
    return save(getattr(t, kind)(config), folder, tokenizer(WORDS))


STORY = ["<|ref|>", "title", "<|/ref|>", "<|det|>", "[[100,200,", "500,800]]", "<|/det|>", "</s>"]


def writer(folder: Path) -> Path:
    """A model that writes the same story, a grounded title, about every image.

    Its decoder has no layers, a one for each token as its embedding, and a head that leads to the next.
    """
    torch.manual_seed(0)
    words = tokenizer([one for one in STORY if one != "</s>"])
    names = words.get_vocab()
    size = len(names)
    image = t.ViTConfig(**{**PATCHES, "hidden_size": 32})
    text = t.GPT2Config(
        vocab_size=size, n_embd=size, n_layer=0, n_head=1, n_positions=32, add_cross_attention=True,
        is_decoder=True, tie_word_embeddings=False, bos_token_id=0, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    config = t.VisionEncoderDecoderConfig.from_encoder_decoder_configs(image, text)
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 0, 0, 1
    model = t.VisionEncoderDecoderModel(config)
    decoder = model.decoder
    chain = [names["<pad>"], *(names[one] for one in STORY)]
    with torch.no_grad():
        decoder.transformer.wte.weight.copy_(torch.eye(size))
        decoder.transformer.wpe.weight.zero_()
        head = torch.zeros(size, size)
        for here, after in zip(chain, chain[1:], strict=False):
            head[after, here] = 1.0
        decoder.lm_head.weight = torch.nn.Parameter(head)
    return save(model, folder, words, t.ViTImageProcessorPil(size=32))


def pictures(folder: Path, count: int = 3) -> Path:
    """Images of several sizes and kinds."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        picture = Image.new("RGB", (60 + 20 * number, 50), (40 * number, 90, 160))
        picture.save(folder / f"p{number}.{'png' if number % 2 else 'jpg'}")
    return folder


def stories(folder: Path, count: int = 3) -> Path:
    """Texts of the words that the tokenizers know."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"s{number}.txt").write_text(" ".join(WORDS[number : number + 6]) + "\n", encoding="utf-8")
    return folder
