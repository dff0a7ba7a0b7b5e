//! External corpora: what they are called, where they come from, and what is known of them.
//!
//! Nothing of them is part of this repository. Whoever has fetched the files puts them into folders named as here
//! and points `PLIMSOLL_CORPORA` at the folder above.

use plimsoll_model::Bytes;

/// Files of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corpus {
    /// The folder they lie in, below the folder of all corpora.
    pub folder: &'static str,
    /// Who keeps them, and where among their files they are.
    pub upstream: &'static str,
    /// Where each file is by itself.
    pub origin: Origin,
    /// Commit or version.
    pub version: &'static str,
    /// Their licence, as an SPDX identifier.
    pub licence: &'static str,
    /// The files, by name.
    pub files: &'static [CorpusFile],
}

/// Where the files of a corpus can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A public repository there, by owner and name.
    Github(&'static str),
    /// A Python package, of which an archive is downloaded.
    Package(&'static str),
}

impl Corpus {
    /// Where the file is, below the repository or package.
    pub fn path(&self, file: &CorpusFile) -> String {
        match file.path {
            "" => format!("benchmarks/{}", file.name.replace("__", "/")),
            folder if folder.ends_with('/') => format!("{folder}{}", file.name),
            path => path.to_owned(),
        }
    }
}

/// One file of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorpusFile {
    /// Its name in the folder.
    pub name: &'static str,
    /// Where it is upstream; only the folder, with a slash, where its name is the same there. Nothing: the name is the path below `benchmarks/`, with
    /// `__` for slashes.
    path: &'static str,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: &'static str,
    /// What is known of it, where it is an instance.
    pub facts: Option<Facts>,
}

/// What is known of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Number of buffers.
    pub buffers: usize,
    /// Most bytes alive at a step.
    pub load: Bytes,
    /// The least peak, bytes, where a layout at the load is known.
    pub optimum: Option<Bytes>,
}

/// An instance whose least peak is its load.
const fn tight(name: &'static str, buffers: usize, load: u64, sha256: &'static str) -> CorpusFile {
    let load = Bytes::new(load);
    CorpusFile { name, path: "", sha256, facts: Some(Facts { buffers, load, optimum: Some(load) }) }
}

/// An instance of unknown least peak.
const fn open(name: &'static str, buffers: usize, load: u64, sha256: &'static str) -> CorpusFile {
    CorpusFile {
        name,
        path: "",
        sha256,
        facts: Some(Facts { buffers, load: Bytes::new(load), optimum: None }),
    }
}

/// A model, or an instance in another format.
const fn other(name: &'static str, sha256: &'static str) -> CorpusFile {
    CorpusFile { name, path: "", sha256, facts: None }
}

impl CorpusFile {
    /// The same, to be found there.
    const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }
}

/// All external corpora.
pub static MANIFEST: &[Corpus] = &[
    Corpus {
        folder: "minimalloc",
        upstream: "github google/minimalloc, benchmarks/challenging/ and benchmarks/examples/",
        origin: Origin::Github("google/minimalloc"),
        version: "9f5cf810fec4494df473c23cffd0567989e81b69",
        licence: "Apache-2.0",
        files: &[
            tight(
                "A.1048576.csv",
                154,
                1_048_576,
                "4660c0d84de8a0bcada83e3a9faab2793bcb008f38b8eea228fe2b5b6c66af1a",
            )
            .at("benchmarks/challenging/"),
            tight(
                "B.1048576.csv",
                170,
                1_048_576,
                "83f3ce84099f199e804376a2b6104c7812db9d96a340695ebd44275bb4b2798a",
            )
            .at("benchmarks/challenging/"),
            tight(
                "C.1048576.csv",
                203,
                1_039_360,
                "88a286397f28b21d623f82a99f53d7c48be689ac3a4830e091d19622b8229f15",
            )
            .at("benchmarks/challenging/"),
            tight(
                "D.1048576.csv",
                213,
                986_112,
                "5f7d865fe822b0c2124e3ddb17d7dd94faf27e5f72e5938a94f87a0618eb1f80",
            )
            .at("benchmarks/challenging/"),
            tight(
                "E.1048576.csv",
                215,
                1_048_576,
                "25b153b7836474534cf19c4b6db46bf7a21892a21f49051817c4fdba24a79fc5",
            )
            .at("benchmarks/challenging/"),
            tight(
                "F.1048576.csv",
                296,
                1_048_576,
                "a1266bb5adc0793c8b7b04a006d6b073fe3557fe084458e9a13c0794038ce10b",
            )
            .at("benchmarks/challenging/"),
            tight(
                "G.1048576.csv",
                308,
                1_048_576,
                "60bc03e388349033b42ccfb070b071b4321015006fdabe96905fdc30f156da7d",
            )
            .at("benchmarks/challenging/"),
            tight(
                "H.1048576.csv",
                316,
                1_048_576,
                "3f87b5a2fc337836120e90806e21837d80273095ac4c3c08146d084850d0e9da",
            )
            .at("benchmarks/challenging/"),
            tight(
                "I.1048576.csv",
                374,
                1_048_576,
                "c3f205cb1a3daa5ed8134b04c25ae695e8f50417f7cdb155b9600467f5db333d",
            )
            .at("benchmarks/challenging/"),
            tight(
                "J.1048576.csv",
                409,
                989_184,
                "95ff0330ae1ae792f85d7851fb219c76f546482345ad6c3976e0576246db05ad",
            )
            .at("benchmarks/challenging/"),
            tight(
                "K.1048576.csv",
                454,
                1_048_576,
                "0ed830405f662b2c35ba4f5dc408ac8c95678513ecde6ee4cce5b892b15db4f1",
            )
            .at("benchmarks/challenging/"),
            tight("input.12.csv", 5, 12, "8688babc6b9ee57096fbe8a7ed89f93ee27e4b975731909a6eafdaae73dd43d1")
                .at("benchmarks/examples/"),
        ],
    },
    Corpus {
        folder: "idealloc",
        upstream: "github cappadokes/idealloc, benchmarks/",
        origin: Origin::Github("cappadokes/idealloc"),
        version: "a21f84d5f2556046c198ac80c4af325b3be72e52",
        licence: "MIT",
        files: &[
            open(
                "G_1.csv",
                816,
                3_030_937_746,
                "97bb794b9367d8675e9539251a0f67c2ed44325ef8a1395c69b8d184d8aa6fd0",
            )
            .at("benchmarks/iopddl/"),
            open(
                "pangu_2.6B.csv",
                18_692,
                5_530_099_775,
                "45faf9567019cf93048d5ed0697f37c3be9e49a7846039aabd1451cc7c44c1dd",
            )
            .at("benchmarks/somas_tensors/"),
            open(
                "resnet50.csv",
                1_042,
                1_515_472_556,
                "db5deec5d10de293db06ff280065ae8646ba61a6a2af7400421d9b3eb5d2e90a",
            )
            .at("benchmarks/somas_tensors/"),
        ],
    },
    Corpus {
        folder: "tflite",
        upstream: "github tensorflow/tflite-micro",
        origin: Origin::Github("tensorflow/tflite-micro"),
        version: "90b983c2b3f1480642e040bbd2ddb37b998f3424",
        licence: "Apache-2.0",
        files: &[
            other(
                "dtln_noise_suppression.tflite",
                "91e94316d1a4747dd3bddcf58423927e97213913a9b4210edca3f9402b2ff0fe",
            )
            .at("tensorflow/lite/micro/examples/dtln/"),
            other(
                "keyword_scrambled.tflite",
                "2335faf0a066193cfbd499ebabcce06629c223ec24afbd1f27aaaf0a4273b1a1",
            )
            .at("tensorflow/lite/micro/models/"),
            other(
                "micro_speech_lstm.tflite",
                "94375ed22731cbad5a76490c9458ef51345789afe1b80f5c7461d2494bccaa19",
            )
            .at("third_party/xtensa/examples/micro_speech_lstm/"),
            other(
                "micro_speech_quantized.tflite",
                "09e5e2a9dfb2d8ed78802bf18ce297bff54281a66ca18e0c23d69ca14f822a83",
            )
            .at("tensorflow/lite/micro/examples/micro_speech/models/"),
            other(
                "mobilenet_v2_quantized_1x3x224x224.tflite",
                "2778683128d56fe4a3da6b8cdbbb00ec12663553f30a9b4fe927747ba637bb2f",
            )
            .at("third_party/xtensa/examples/pytorch_to_tflite/"),
            other("person_detect.tflite", "808cfdfc0cf3a6fa6f6fa26bfa379ea97c16d5db7334637766e39c3408502e9d")
                .at("tensorflow/lite/micro/models/"),
            other("trained_lstm.tflite", "479430996e6d6fce4d2fcd2e370af939918e743bc9a7c90907f09e8bafa59658")
                .at("tensorflow/lite/micro/examples/mnist_lstm/"),
        ],
    },
    Corpus {
        folder: "tflite",
        upstream: "github mlcommons/tiny, benchmark/training/*/trained_models/",
        origin: Origin::Github("mlcommons/tiny"),
        version: "1afd2c9820f795965a6134facd0b4dfae41ef23f",
        licence: "Apache-2.0",
        files: &[
            other("ad01_int8.tflite", "87cf24194ef93d1d9b11a591d805526b98008e351655d29883c825c9c106ba24")
                .at("benchmark/training/anomaly_detection/trained_models/"),
            other("kws_ref_model.tflite", "aeea436800704fce17b17292e4412630ad856e9d777c044c64ef748a880bd0ae")
                .at("benchmark/training/keyword_spotting/trained_models/"),
            other(
                "pretrainedResnet_quant.tflite",
                "3c002613d1b2475eb51dd78dfb85a546c8ae658dee71cf6ade43b022fe205415",
            )
            .at("benchmark/training/image_classification/trained_models/"),
            other(
                "str_ww_ref_model.tflite",
                "3af8550895ba7d5c584277102b5075c52dcfa63ba9d2b2240f37c4e6abd5dd2b",
            )
            .at("benchmark/training/streaming_wakeword/trained_models/"),
            other("vww_96_int8.tflite", "597a384c8c2c8a1276f04702f25013b7838f2f814f1ca7c174d295b73e3d6b7b")
                .at("benchmark/training/visual_wake_words/trained_models/"),
        ],
    },
    Corpus {
        folder: "onnx",
        upstream: "github snakers4/silero-vad, src/silero_vad/data/",
        origin: Origin::Github("snakers4/silero-vad"),
        version: "806dcba3f0b5d95282d0889a074954a2f8c6397b",
        licence: "MIT",
        files: &[
            other("silero_vad.onnx", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3")
                .at("src/silero_vad/data/"),
            other(
                "silero_vad_16k_op15.onnx",
                "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
            )
            .at("src/silero_vad/data/"),
        ],
    },
    Corpus {
        folder: "onnx",
        upstream: "the package onnx 1.23.1, onnx/backend/test/data/light/",
        origin: Origin::Package("onnx"),
        version: "1.23.1",
        licence: "Apache-2.0",
        files: &[
            other(
                "light_bvlc_alexnet.onnx",
                "2afa78cef5a88aed9d6e3d63fb92bd330c9177ac150d19189c6b3e7204ba0212",
            )
            .at("onnx/backend/test/data/light/"),
            other(
                "light_densenet121.onnx",
                "49ddb5712797d6164f1d864bedaad927de4f3909ad1b4ba390a92c2f8150e9f6",
            )
            .at("onnx/backend/test/data/light/"),
            other(
                "light_inception_v1.onnx",
                "bb7a0e6c370c709f5615eeef961b43628de13d0009ae4d6f4bfb0d5aea5d8270",
            )
            .at("onnx/backend/test/data/light/"),
            other(
                "light_inception_v2.onnx",
                "224d77d55b26559a959db627c3f417a623fbf3b3000d25f0939327aa935d933f",
            )
            .at("onnx/backend/test/data/light/"),
            other("light_resnet50.onnx", "05e77a5c9c9ce0913f549a50d6ebaced5e0ff6817b61e09bae26e4c5bd9055e4")
                .at("onnx/backend/test/data/light/"),
            other(
                "light_shufflenet.onnx",
                "c6f406d62be36d6b4572542c0950a2abd59f56237068793290680bba89fbafe5",
            )
            .at("onnx/backend/test/data/light/"),
            other(
                "light_squeezenet.onnx",
                "770b0f3c8623e18bf58b53754d710051b4c268248422142980a132bbe6dfe908",
            )
            .at("onnx/backend/test/data/light/"),
            other("light_vgg19.onnx", "8e547d732b3a3d66eeb8fa64a026adb994d3db552f0bbd52e436d06300d89afe")
                .at("onnx/backend/test/data/light/"),
            other("light_zfnet512.onnx", "6444bb58b98c3d14f551a3bdb83eea9e5db7e147790db3115c447e9c9a8338b0")
                .at("onnx/backend/test/data/light/"),
        ],
    },
    Corpus {
        folder: "dsa",
        upstream: "github tonibohnlein/dsa-solver, benchmarks/ (paths with / written __)",
        origin: Origin::Github("tonibohnlein/dsa-solver"),
        version: "a8d1257579e7f2fb12e621cb9e271078c6a12ba0",
        licence: "Apache-2.0",
        files: &[
            other(
                "pypto-lib__examples__advanced__gemm_eltwise__pypto_gemm_eltwise_tile_aiv.json",
                "fac28c9df364be11bd70e95dc5eb8439492921f87990614090fc12004227c4bf",
            ),
            other(
                "pypto-lib__examples__intermediate__layer_norm__pypto_layer_norm_rows.json",
                "7c03578ccb5dcb42d1f80147cd40262966d0bc036aeaea6e47d3eebb30d1df85",
            )
            .at("benchmarks/pypto-lib/examples/intermediate/layer_norm__pypto_layer_norm_rows.json"),
            other(
                "pypto-lib__models__deepseek__v3_2__deepseek_v3_2_decode_front__pypto_s4_softmax-cross-pipe-hard.json",
                "7027aeeca719f36357bfae3a912374830b8a84b3b02cf2d22660eddce12a3b07",
            ),
            other(
                "pypto-lib__models__deepseek__v4__decode_attention_csa__pypto_score_mat-cross-pipe-hard.json",
                "937d114237454810a7202bba163c63974e0c1e940b233eecc5f7e3148adb5eb9",
            ),
            other(
                "pypto-lib__models__deepseek__v4__decode_mtp__pypto_mtp_projection_linear_aiv-cross-pipe-hard.json",
                "4d812d5743f55a6643f080a1d9eb03667da40d698f1c1a819e04c456464e8252",
            ),
            other(
                "pypto-lib__models__deepseek__v4__lm_head__pypto_finish_logits_step-cross-pipe-hard.json",
                "852245606c8f59f2137bec69767121a5c24462e522dd5f1a6be43d8c24872ae1",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_prefill_c4_rmsnorm_rope.json",
                "f0327bae5ec51d67c24483f785c28129608613cd1ac500268b178f8fa8c066cc",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_prefill_csa_idx_halfrope-cross-pipe-hard.json",
                "2a6e79cdc56bd64637e6c95fc69ad4c92a986d424a3c69373fbec80f4a937116",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_prefill_idx_c4_state_update-cross-pipe-hard.json",
                "4fca20a3662767815c41b85468a35bf206fb83e9c7bb2bef231abaeced65ee93",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_prefill_idx_score_aic.json",
                "3564a21a35f14e94c5cc1937fb1413d4a43f63c0aa3e0de084d265f62afbafa0",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_prefill_idx_score_aiv-cross-pipe-hard.json",
                "ee8b8ac537eae03d2b888ab0ecc14fbaddce28d044db8616ddc04fa3fb1ee3b2",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_quant.json",
                "11c7023d97af132656d220a427111208ab67b727ac001c0213b53537a9e009e4",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_attention_csa__pypto_rope.json",
                "c9e00c1e4a4945e271e6861d37e1a896b996ffae9b260670ff05e6db6e60e8c7",
            ),
            other(
                "pypto-lib__models__deepseek__v4__prefill_fwd__pypto_prefill_idx_c4_softmax_pool.json",
                "cf303687ed710c2c547478a105ea6c0cd754b736027c2b4051dfe48361e8c160",
            ),
            other(
                "pypto-lib__models__qwen3__14b__decode_layer_a8w8__pypto_act_quant.json",
                "931bd7ebbb8a297613e121e122001de8d09c2fbdac49053c89a74972973b4ee9",
            ),
            other(
                "pypto-lib__models__qwen3__14b__decode_layer_a8w8__pypto_down_cast_residual.json",
                "bf795377ae1101decdbdeb2713965e01afc28f0ad7b47b0925698328ddfe7af2",
            ),
            other(
                "pypto-lib__models__qwen3__14b__decode_layer_a8w8__pypto_k_proj_fused_dequant_aic.json",
                "743556547c73b149307e1224fb175516e83892fb611726f0149e6e68e5b0c5f6",
            ),
            other(
                "pypto-lib__models__qwen3__14b__decode_layer_a8w8__pypto_qk_norm.json",
                "d3a34d3ac14bb34f7da1b2c40d9defda27b78de403d8cb7f7338707d98f153ab",
            ),
            other(
                "pypto-lib__models__qwen3__14b__decode_layer_a8w8__pypto_silu.json",
                "562cea65888cb7d663d51c0f8028f22bf6320cf4f24779c9aaf9784118bb14ae",
            ),
            other(
                "pypto-lib__models__qwen3__14b__prefill_fwd__pypto_silu.json",
                "c6327241904b294fc20f897dc62629b7a028181c8f2d80f3e908324656d90b58",
            ),
            other(
                "pypto-lib__models__qwen3__14b__qwen3_14b_decode_tq_draft__pypto_codebook_expand.json",
                "25525f8663e0132d7768a02d25899463fdf66434e5c051f9613019d5ec2132cc",
            ),
            other(
                "pypto-lib__models__qwen3__14b__qwen3_14b_decode_tq_draft__pypto_k_rotate_quant_aiv.json",
                "7e46e15766ac43c6938779be08eb317656ba084e9bcd8db1879295e4e7b83740",
            ),
            other(
                "pypto-lib__models__qwen3__14b__qwen3_14b_decode_tq_draft__pypto_kv_pad-cross-pipe-hard.json",
                "1cf0f2f3aa43b88fbc4483c387c128d5b3a7839bcdaf7015aba4225f5ca6c85b",
            ),
            other(
                "pypto-lib__models__qwen3__32b__qwen3_32b_decode__pypto_rope_kv_cache-cross-pipe-hard.json",
                "35806b6f98c08b9d269be9f5d7b22221ffdef4caeef9472092b422362ee14b02",
            ),
            other(
                "pypto__system-tests__examples__03_llm_models__test_llama_7b_mini_1h__pypto_kernel_rope.json",
                "ff973d2d6c8401a9a4d20ffcd90fa13563593912f9cf564b5f4a7983d4695996",
            ),
            other(
                "pypto__system-tests__runtime__cross_core__test_cross_core__pypto_main_incore_0_aiv-0ff59980e9b21d94.json",
                "6ef8198c93b28c2eeb9f16777f15c330838f35af10237ed60f7fd0d0faf801dd",
            ),
            other(
                "pypto__system-tests__runtime__cross_core__test_spmd_dynamic_core_num__pypto_div-cross-pipe-hard.json",
                "a00eadf046a23fda692c50885f33e908d408b19fabde72d393f52f748338796d",
            ),
            other(
                "pypto__system-tests__runtime__framework_and_models__test_batch_paged_attention__pypto_KernelQkMatmul.json",
                "1a84f555e62e60d906c189044c4de34e09b912cdee7586b320b87a9b13b3455c",
            ),
            other(
                "pypto__system-tests__runtime__framework_and_models__test_paged_attention_spmd__pypto_SpmdOnlineUpdate-cross-pipe-hard.json",
                "0e5a64cdae8937fb9899061281ebd783c47ee5a7594772b39aea0262e55b4df7",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_argmax_reduction__pypto_kernel-b3bf3649a4296c61.json",
                "c7236a057e76cf8217ccc9f4d6d5bcc6585b493ccd6863a91e2a93a09b12d1f7",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_auto_tile_matmul__pypto_mat_split_k_mat_split_k-cross-pipe-hard.json",
                "cd1f33920b2a39b9255f444c57df9560229a1f4d14e7ad85619ba2193aa1599d",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_batch_matmul__pypto_batch_matmul_bt-cross-pipe-hard-32085f794a539978.json",
                "0f47521537e9b022773cdc8926898fb529b24eb6bd49e02ab1d29580fc0fd98a",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_broadcast__pypto_col_expand_mul_column_slice_kernel.json",
                "b4cfc5b898245ce9b7b75171b52a3260381ffd2b5ce9480bcaf643753cb44838",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_fillpad_expand__pypto_kernel-ebf8845b2fe01adf.json",
                "324615a7c006af9b11c8abd5e5d738536a98e53da48efbcaeeef49e29becee8c",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_matmul__pypto_matmul-cross-pipe-hard-8051883bc29b9e42.json",
                "ccf872239b90298ff2c339a73855681111d12feaf1f8146031cc152621f8ca3c",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_matmul__pypto_matmul_abtranspose-c6ae6595d2765aaf.json",
                "7055021ff2278cc384381b666c2d60f46f135f598c84c890fb64bb892c8679c1",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_matmul__pypto_matmul_acc_64_incore_0.json",
                "f5a62c82d85531133d58b2cefc454cd4b7da4d2d3d8dc1c4f80bd374779e168b",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_rsqrt__pypto_main_incore_0-e0989979105661a9.json",
                "50707a17c939db694c259c2c33510519e6f4455482f05859573e59b0fc6e86ab",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_scatter__pypto_main_incore_0-af62fc156f029d10.json",
                "b2aa838d08c72f4b1354a4bd561d48f69528fda82141170cf87e624fe81f7547",
            ),
            other(
                "pypto__system-tests__runtime__ops__test_tensor_batch_matmul__pypto_sliced_btrans-cross-pipe-hard.json",
                "d46c6f0f497f30a2138ca47a2c84431d4735b9ee0acc099cc794f41b29039f23",
            ),
        ],
    },
];
